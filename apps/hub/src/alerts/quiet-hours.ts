/** When a person's quiet hours end. Pure. */
import type { AlertPreferences } from '@hedgerow/contract'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440

/** Returns `now` outside the quiet hours, else the minute after them, in the person's time zone. */
export function afterQuietHours(
  now: number,
  { quietHours, timeZone }: Pick<AlertPreferences, 'quietHours' | 'timeZone'>,
): number {
  if (quietHours === null) return now
  const [from, to] = [minuteOf(quietHours.from), minuteOf(quietHours.to)]
  const clock = new Intl.DateTimeFormat('en', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  const minute = minuteOf(clock.format(now))
  const isQuiet = from <= to ? minute >= from && minute < to : minute >= from || minute < to
  if (!isQuiet) return now
  const left = (to - minute + DAY_MINUTES) % DAY_MINUTES
  return Math.floor(now / MINUTE_MS) * MINUTE_MS + left * MINUTE_MS
}

function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return hour * 60 + minute
}
