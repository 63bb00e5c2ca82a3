import type { LedgerEntry } from './deterrents.ts'

/** A line of the ledger in words, such as `sprinkler fired for 10 s by Boar at night`. */
export function ledgerLine({ kind, deterrent, seconds, by, message, gone, from, times, camera }: LedgerEntry): string {
  const ofSnooze = OF_SNOOZES.get(kind)
  if (ofSnooze !== undefined) {
    const who = by?.name === undefined ? '' : ` by ${by.name}`
    return `${camera === undefined ? 'everything' : `camera ${camera}`} ${ofSnooze}${who}`
  }
  const ofPeople = OF_PEOPLE.get(kind)
  if (ofPeople !== undefined) {
    const parts = [
      ofPeople,
      by?.name !== undefined && ` by ${by.name}`,
      from !== undefined && ` from ${from}`,
      times !== undefined && `, ${times} times`,
      message !== undefined && `: ${message}`,
    ]
    return parts.filter((part) => typeof part === 'string').join('')
  }
  if (kind === 'looked') return [deterrent, LOOKED.get(gone ?? null)].filter((part) => part !== undefined).join(': ')
  const words = [
    deterrent,
    kind,
    seconds !== undefined && `${kind === 'ended' ? 'after' : 'for'} ${seconds} s`,
    // Whoever began it, which the line of its beginning says.
    kind !== 'ended' && by?.name !== undefined && `by ${by.name}`,
  ]
  const line = words.filter((part) => typeof part === 'string').join(' ')
  return message !== undefined && SAY_WHY.has(kind) ? `${line}: ${message}` : line
}

const LOOKED = new Map([
  [true, 'a minute later it was gone'],
  [false, 'a minute later it was still there'],
  [null, 'a minute later it was unknown whether it was gone'],
])
const OF_SNOOZES: ReadonlyMap<LedgerEntry['kind'], string> = new Map([
  ['snoozed', 'was snoozed'],
  ['maintenance', 'is in maintenance, begun'],
  ['snooze-ended', 'is no longer snoozed, ended'],
])
/** About people, not deterrents. */
const OF_PEOPLE: ReadonlyMap<LedgerEntry['kind'], string> = new Map([
  ['file-saved', 'gateway.yaml was saved'],
  ['password-refused', 'a wrong device password was given'],
])
const SAY_WHY: ReadonlySet<LedgerEntry['kind']> = new Set(['refused', 'failed', 'fault'])
