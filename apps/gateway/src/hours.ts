import { getTimes } from 'suncalc'
import { z } from 'zod'

/** Where the device is. `timeZone` is a name of the IANA database; the device's own when left out. */
export type Place = { latitude?: number | undefined; longitude?: number | undefined; timeZone?: string | undefined }

const END = '(?:(?:[01]\\d|2[0-3]):[0-5]\\d|24:00|sunrise|sunset)'
const RANGE = new RegExp(`^(${END})-(${END})$`)

/** `22:00-06:00`, `sunset-sunrise`, or one of each; a range whose end is before its start goes past midnight. */
export const hours = z
  .string()
  .regex(RANGE, 'Write hours as 22:00-06:00, sunset-sunrise, or one of each, such as sunset-23:30.')
/** One range or several. */
export const hoursList = z.union([hours, z.array(hours).min(1).max(24)])
export type Hours = z.output<typeof hoursList>

const DAY_MINUTES = 1_440
const MINUTE_MS = 60_000

/**
 * Whether `at`, in milliseconds since 1970, is within one of the ranges; their ends are not. Sunrise and sunset are
 * those of the day at the place. Where the sun does not set that day `sunset-sunrise` is never, and where it does not
 * rise always. Throws a RangeError for a time zone that is not known.
 */
export function isWithin(list: Hours, at: number, place: Place): boolean {
  const minute = minuteOfDay(at, place)
  return [list].flat().some((range) => {
    const [, from, to] = RANGE.exec(range) ?? []
    if (from === undefined || to === undefined) return false
    const start = minuteOf(from, at, minute, place)
    const end = minuteOf(to, at, minute, place)
    if (start === end) return from === to
    return start < end ? minute >= start && minute < end : minute >= start || minute < end
  })
}

function minuteOf(end: string, at: number, minute: number, place: Place): number {
  if (end !== 'sunrise' && end !== 'sunset') {
    const [hour, minutes] = end.split(':').map(Number)
    return hour! * 60 + minutes!
  }
  // Noon chooses the solar day, whatever the distance to UTC.
  const noon = at + (DAY_MINUTES / 2 - minute) * MINUTE_MS
  const times = getTimes(new Date(noon), place.latitude ?? 0, place.longitude ?? 0)
  const event = times[end]
  if (event) return minuteOfDay(event.getTime(), place)
  // The whole day counts as between sunrise and sunset, or none of it.
  if (times.alwaysUp) return end === 'sunrise' ? 0 : DAY_MINUTES
  return end === 'sunrise' ? DAY_MINUTES : 0
}

function minuteOfDay(at: number, { timeZone }: Place): number {
  const parts = clockOf(timeZone).formatToParts(at)
  const part = (type: string) => Number(parts.find((candidate) => candidate.type === type)?.value)
  return part('hour') * 60 + part('minute')
}

const clocks = new Map<string | undefined, Intl.DateTimeFormat>()

function clockOf(timeZone: string | undefined): Intl.DateTimeFormat {
  let clock = clocks.get(timeZone)
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' })
    clocks.set(timeZone, clock)
  }
  return clock
}
