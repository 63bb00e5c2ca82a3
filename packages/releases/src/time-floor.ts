/**
 * The time by which the expiry of signed lists is judged: the latest of the clocks at hand and of a time that has
 * certainly passed, which is kept. So neither a clock that was set back nor a machine that starts in 1970 revives a
 * list that has expired.
 *
 * A time has certainly passed when a signed list or the running version was made then, or when two clocks have reached
 * it. One clock alone is not kept: after it leapt ahead, every later list would be expired for ever.
 */
const KEPT_EVERY_MS = 86_400_000

/** All times are in milliseconds since 1970. */
export const expiryTime = (clocks: readonly number[], passed: number): number => Math.max(...clocks, passed)

/** The time that both clocks have reached, if it is worth keeping: at most once a day, because disks wear. */
export function newlyPassed(clocks: readonly [number, number], passed: number): number | undefined {
  const both = Math.min(...clocks)
  return both >= passed + KEPT_EVERY_MS ? both : undefined
}
