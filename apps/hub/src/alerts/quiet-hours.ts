/** When a person's quiet hours end. Pure. */
import { isInHours, minuteOf, type AlertPreferences, type ClockHours } from '@hedgerow/contract'
import { dayAndMinute } from '../kernel/wall-clock.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440
/** No zone's clock has been set by more at a change of summer time. */
const LARGEST_CHANGE_MINUTES = 120
/** Hours that follow each other, such as those of a weekend; more would be a week without an end. */
const IN_A_ROW_MAX = 21

/** Returns `now` outside the quiet hours, else the first minute after them by the clock on the person's wall. */
export function afterQuietHours(
  now: number,
  { quietHours, timeZone }: Pick<AlertPreferences, 'quietHours' | 'timeZone'>,
): number {
  const isQuiet = (hours: ClockHours, at: number) => {
    const { day, minute } = dayAndMinute(at, timeZone)
    return isInHours(hours, day, minute)
  }
  const endOf = (hours: ClockHours, begun: number) => {
    const left = (minuteOf(hours.to) - dayAndMinute(begun, timeZone).minute + DAY_MINUTES) % DAY_MINUTES
    // The clock may be set meanwhile, so that the end comes earlier or later, or its minute not at all.
    const early = Math.max(left - LARGEST_CHANGE_MINUTES, 0)
    const late = left + LARGEST_CHANGE_MINUTES
    const minutes = Array.from(
      { length: late - early },
      (_, i) => Math.floor(begun / MINUTE_MS + early + i) * MINUTE_MS,
    )
    return minutes.find((at) => at > begun && !isQuiet(hours, at)) ?? begun + late * MINUTE_MS
  }
  let at = now
  for (let round = 0; round < IN_A_ROW_MAX; round++) {
    const current = [quietHours ?? []].flat().find((hours) => isQuiet(hours, at))
    if (!current) break
    at = endOf(current, at)
  }
  return at
}
