/** Hours of a day as `gateway.yaml` writes them: clock times, and sunrise and sunset at the place of the device. */
import { parseSchedule, scheduleProblem, WEEK_DAYS, type WeekDay } from '@hedgerow/contract'
import { getTimes } from 'suncalc'
import { z } from 'zod'

const isTimeZone = (name: string) => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}

/** The part `site` of gateway.yaml. */
export const siteSettings = z
  .strictObject({
    latitude: z.number().min(-90).max(90).optional().describe('Degrees, north is positive.'),
    longitude: z.number().min(-180).max(180).optional().describe('Degrees, east is positive.'),
    timeZone: z
      .string()
      .refine(isTimeZone, 'This is not the name of a time zone, such as Europe/Berlin.')
      .optional()
      .describe("The time zone of all hours in this file; the device's own when left out."),
  })
  .refine(({ latitude, longitude }) => (latitude === undefined) === (longitude === undefined), {
    error: 'Give latitude and longitude, or neither.',
  })
/** Where the device is. */
export type Place = z.output<typeof siteSettings>

const hours = z
  .string()
  .refine((text) => parseSchedule(text) !== undefined, { error: ({ input }) => scheduleProblem(String(input)) })
/** One or several: `22:00-06:00`, `sunset-sunrise`, `sunset+30m-23:30`, `Mon-Fri 18:00-06:00`, `Sat,Sun`. */
export const hoursList = z.union([hours, z.array(hours).min(1).max(24)])
export type Hours = z.output<typeof hoursList>

/** Used only to compare two points: a range whose end comes first goes past midnight. */
const NOMINAL_MINUTES = { sunrise: 6 * 60, sunset: 18 * 60 }
const MINUTE_MS = 60_000
const HALF_DAY_MS = 12 * 60 * MINUTE_MS

export function needsPlace(list: Hours): boolean {
  return schedulesOf(list).some(({ from, to }) => isSunPoint(from) || isSunPoint(to))
}

const schedulesOf = (list: Hours) => [list].flat().flatMap((text) => parseSchedule(text) ?? [])

/**
 * Whether `at`, in milliseconds since 1970, is within one of the ranges; a range's end is outside it. A range belongs
 * to the day on which it begins, which its own days and `days` may restrict. Sun times are those at the place:
 * `sunset-sunrise` is never where the sun does not set, and always where it does not rise. When clocks go forward, a
 * skipped time is later by the same amount; when they go back, the first of two equal times counts.
 */
export function isWithin(list: Hours, at: number, place: Place, days: readonly WeekDay[] = WEEK_DAYS): boolean {
  const timeZone = place.timeZone ?? Temporal.Now.timeZoneId()
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate()
  return schedulesOf(list).some(({ from, to, days: own }) => {
    const wraps = nominalMinutes(to) <= nominalMinutes(from)
    // Where the time zone is far from the place's own, sun times are up to two days away.
    return [-2, -1, 0, 1].some((offset) => {
      const day = today.add({ days: offset })
      const weekDay = WEEK_DAYS[day.dayOfWeek - 1]!
      if (!own.includes(weekDay) || !days.includes(weekDay)) return false
      const start = instantOf(from, day, timeZone, place)
      const end = instantOf(to, wraps ? day.add({ days: 1 }) : day, timeZone, place)
      return at >= start && at < end
    })
  })
}

/** When `isWithin` changes after `at`, within the next two days, or nine where days of the week count; else null. */
export function nextChange(list: Hours, at: number, place: Place): number | null {
  const timeZone = place.timeZone ?? Temporal.Now.timeZoneId()
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate()
  const before = isWithin(list, at, place)
  const schedules = schedulesOf(list)
  const days = schedules.some(({ days }) => days.length < WEEK_DAYS.length) ? WEEK_DAYS.length + 2 : 2
  for (let offset = -1; offset <= days; offset++) {
    const moments = schedules
      .flatMap(({ from, to }) => [from, to])
      .map((point) => instantOf(point, today.add({ days: offset }), timeZone, place))
    const changes = moments.filter((moment) => moment > at && isWithin(list, moment, place) !== before)
    if (changes.length > 0) return Math.round(Math.min(...changes))
  }
  return null
}

/** The next 7 o'clock at the place. */
export function nextMorning(at: number, { timeZone = Temporal.Now.timeZoneId() }: Place): number {
  const now = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
  const today = now.toPlainDate().toZonedDateTime({ timeZone, plainTime: '07:00' })
  return (today.epochMilliseconds > at ? today : today.add({ days: 1 })).epochMilliseconds
}

function nominalMinutes(point: string): number {
  if (isSunPoint(point))
    return NOMINAL_MINUTES[point.startsWith('sunrise') ? 'sunrise' : 'sunset'] + offsetMinutes(point)
  const [hour, minute] = point.split(':').map(Number)
  return hour! * 60 + minute!
}

function instantOf(point: string, day: Temporal.PlainDate, timeZone: string, place: Place): number {
  if (isSunPoint(point)) return sunTime(point, day, timeZone, place) + offsetMinutes(point) * MINUTE_MS
  const isEndOfDay = point === '24:00'
  const plainTime = isEndOfDay ? '00:00' : point
  return day.add({ days: isEndOfDay ? 1 : 0 }).toZonedDateTime({ timeZone, plainTime }).epochMilliseconds
}

/** Rules ask for the same few days again and again, and each answer takes a while. */
const sunTimes = new Map<string, ReturnType<typeof getTimes>>()
const DAYS_MAX = 100

function sunTimesOf(day: Temporal.PlainDate, timeZone: string, { latitude = 0, longitude = 0 }: Place) {
  const key = `${day.toString()} ${timeZone} ${latitude} ${longitude}`
  const known = sunTimes.get(key)
  if (known) return known
  if (sunTimes.size >= DAYS_MAX) sunTimes.clear()
  const noon = day.toZonedDateTime({ timeZone, plainTime: '12:00' }).epochMilliseconds
  const times = getTimes(new Date(noon), latitude, longitude)
  sunTimes.set(key, times)
  return times
}

function sunTime(point: string, day: Temporal.PlainDate, timeZone: string, place: Place): number {
  const times = sunTimesOf(day, timeZone, place)
  const isRise = point.startsWith('sunrise')
  const time = isRise ? times.sunrise : times.sunset
  if (time) return time.getTime()
  // Without an event the day is light from one solar midnight to the next, or not at all.
  const halfLightMs = times.alwaysUp ? HALF_DAY_MS : 0
  return times.solarNoon.getTime() + (isRise ? -halfLightMs : halfLightMs)
}

function isSunPoint(point: string): boolean {
  return point.startsWith('sun')
}

function offsetMinutes(point: string): number {
  return Number(/([+-]\d+)m$/.exec(point)?.[1] ?? 0)
}
