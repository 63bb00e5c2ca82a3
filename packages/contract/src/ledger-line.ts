import type { LedgerEntry } from './deterrents.ts'

/** A line of the ledger in words, such as `sprinkler fired for 10 s by Boar at night`. */
export function ledgerLine({ kind, deterrent, seconds, by, message, gone }: LedgerEntry): string {
  const words = [
    deterrent,
    kind,
    seconds !== undefined && `for ${seconds} s`,
    by?.name !== undefined && `by ${by.name}`,
    kind === 'looked' && (gone === true ? 'and it was gone' : gone === false ? 'and it was still there' : undefined),
  ]
  const line = words.filter((part) => typeof part === 'string').join(' ')
  return message !== undefined && SAY_WHY.has(kind) ? `${line}: ${message}` : line
}

const SAY_WHY: ReadonlySet<LedgerEntry['kind']> = new Set(['refused', 'failed', 'fault'])
