/**
 * A deterrent's use of its budget. Pure, with monotonic milliseconds, so that no change of the wall clock gives time
 * back.
 */
export type Charge = {
  /** When it was known to be off; the latest time of merged charges. */
  end: number
  seconds: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Charges this close are merged, at the later end, so that a day takes little memory. */
const MERGED_MS = 60_000

/** Adds a charge at the end of `charges`, which are in order, and drops those that no budget counts any more. */
export function charged(charges: readonly Charge[], added: Charge): Charge[] {
  const recent = charges.filter(({ end }) => end > added.end - DAY_MS)
  const last = recent.at(-1)
  const before = recent.at(-2)
  // Merges only while the whole group stays within a minute, or one group could grow without end.
  if (last && added.end - (before?.end ?? -Infinity) <= MERGED_MS)
    recent.splice(-1, 1, { end: Math.max(last.end, added.end), seconds: last.seconds + added.seconds })
  else recent.push(added)
  return recent
}

/**
 * Seconds used in the hour and in the day before `now`. A firing that ended within the time counts fully, so that no
 * window of that length ever exceeds the budget.
 */
export function spent(charges: readonly Charge[], now: number): { hour: number; day: number } {
  const within = (windowMs: number) =>
    charges.reduce((total, { end, seconds }) => (end > now - windowMs ? total + seconds : total), 0)
  return { hour: within(HOUR_MS), day: within(DAY_MS) }
}
