/** When a person's quiet hours end. Pure. */
import type { AlertPreferences } from '@hedgerow/contract'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440
/** No zone's clock has been set by more at a change of summer time. */
const LARGEST_CHANGE_MINUTES = 120

/** Returns `now` outside the quiet hours, else the first minute after them by the clock on the person's wall. */
export function afterQuietHours(
  now: number,
  { quietHours, timeZone }: Pick<AlertPreferences, 'quietHours' | 'timeZone'>,
): number {
  if (quietHours === null) return now
  const [from, to] = [minuteOf(quietHours.from), minuteOf(quietHours.to)]
  const clock = new Intl.DateTimeFormat('en', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  const minuteAt = (at: number) => minuteOf(clock.format(at))
  const isQuiet = (minute: number) => (from <= to ? minute >= from && minute < to : minute >= from || minute < to)
  if (!isQuiet(minuteAt(now))) return now
  const left = (to - minuteAt(now) + DAY_MINUTES) % DAY_MINUTES
  // The clock may be set meanwhile, so that the end comes earlier or later, or its minute not at all.
  const early = Math.max(left - LARGEST_CHANGE_MINUTES, 0)
  const late = left + LARGEST_CHANGE_MINUTES
  const minutes = Array.from({ length: late - early }, (_, i) => Math.floor(now / MINUTE_MS + early + i) * MINUTE_MS)
  return minutes.find((at) => at > now && !isQuiet(minuteAt(at))) ?? now + late * MINUTE_MS
}

function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return hour * 60 + minute
}
