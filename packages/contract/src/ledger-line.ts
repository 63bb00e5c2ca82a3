import type { LedgerEntry } from './deterrents.ts'

/** A line of the ledger in words, such as `sprinkler fired for 10 s by Boar at night`. */
export function ledgerLine(entry: LedgerEntry): string {
  const { kind, deterrent, seconds, by, message, gone, from, times } = entry
  const about = entry.camera === undefined ? 'everything' : `camera ${entry.camera}`
  const who = by?.name === undefined ? '' : ` by ${by.name}`
  if (kind === 'snoozed') return `${about} was snoozed${who}`
  if (kind === 'maintenance') return `maintenance was begun${who}`
  if (kind === 'snooze-ended')
    return who === '' ? `the snooze of ${about} is over` : `the snooze of ${about} was ended${who}`
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
/** About people, not deterrents. */
const OF_PEOPLE: ReadonlyMap<LedgerEntry['kind'], string> = new Map([
  ['file-saved', 'gateway.yaml was saved'],
  ['password-refused', 'a wrong device password was given'],
])
const SAY_WHY: ReadonlySet<LedgerEntry['kind']> = new Set(['refused', 'failed', 'fault'])
