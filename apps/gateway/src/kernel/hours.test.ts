import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WEEK_DAYS } from '@hedgerow/contract'
import { hoursList, isWithin, needsPlace, nextChange, siteSettings } from './hours.ts'

const berlin = { latitude: 52.1, longitude: 9.3, timeZone: 'Europe/Berlin' }
const tromsoe = { latitude: 69.65, longitude: 18.96, timeZone: 'Europe/Oslo' }

const local = (text: string, timeZone: string) =>
  Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds

describe('clock times', () => {
  test.each([
    ['22:00-06:00', '2026-05-01T21:59', false],
    ['22:00-06:00', '2026-05-01T22:00', true],
    ['22:00-06:00', '2026-05-02T05:59', true],
    ['22:00-06:00', '2026-05-02T06:00', false],
    ['09:00-17:00', '2026-05-01T12:00', true],
    ['09:00-17:00', '2026-05-01T08:59', false],
    ['00:00-24:00', '2026-05-01T23:59', true],
    ['18:00-24:00', '2026-05-02T00:00', false],
    ['12:00-12:00', '2026-05-02T03:00', true],
    // The clocks go forward from 02:00 to 03:00, and back from 03:00 to 02:00.
    ['02:30-04:00', '2026-03-29T03:15', false],
    ['02:30-04:00', '2026-03-29T03:45', true],
    ['22:00-06:00', '2026-03-29T03:00', true],
    ['22:00-06:00', '2026-10-25T05:59', true],
  ])('%s at %s: %s', (range, time, expected) => {
    expect(isWithin(range, local(time, 'Europe/Berlin'), berlin)).toBe(expected)
  })

  test('follow the time zone at any moment of a day without a change of the clocks', () => {
    const zones = fc.constantFrom('Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati', 'UTC')
    const minutes = fc.integer({ min: 0, max: 1_439 })
    const text = (minute: number) =>
      `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
    fc.assert(
      fc.property(zones, minutes, minutes, minutes, fc.integer({ min: 0, max: 20 }), (timeZone, from, to, at, days) => {
        const day = Temporal.PlainDate.from('2026-06-01').add({ days })
        const instant = day.toZonedDateTime({ timeZone, plainTime: text(at) }).epochMilliseconds
        const expected = from < to ? at >= from && at < to : at >= from || at < to
        expect(isWithin(`${text(from)}-${text(to)}`, instant, { timeZone })).toBe(expected)
      }),
    )
  })

  test('may be several ranges', () => {
    const within = (time: string) => isWithin(['06:00-08:00', '20:00-22:00'], local(time, 'Europe/Berlin'), berlin)
    expect(['2026-12-20T07:00', '2026-12-20T12:00', '2026-12-20T21:00'].map(within)).toEqual([true, false, true])
  })

  test('of a day of the week belong to the day on which they begin', () => {
    const friday = (time: string) => isWithin('22:00-06:00', local(time, 'Europe/Berlin'), berlin, ['friday'])
    expect(['2026-05-01T23:00', '2026-05-02T05:00', '2026-05-02T23:00', '2026-05-01T05:00'].map(friday)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})

describe('sun times', () => {
  test.each([
    // On 1 May 2026 the sun sets there at 20:44 and rises at 05:53.
    ['sunset-sunrise', '2026-05-01T20:40', false],
    ['sunset-sunrise', '2026-05-01T20:50', true],
    ['sunset-sunrise', '2026-05-01T05:45', true],
    ['sunset-sunrise', '2026-05-01T06:00', false],
    ['sunset+30m-23:30', '2026-05-01T21:05', false],
    ['sunset+30m-23:30', '2026-05-01T21:20', true],
    ['sunset+30m-23:30', '2026-05-01T23:30', false],
    ['sunset-20:00', '2026-05-01T22:00', false],
    ['sunset-18:00', '2026-12-01T17:00', true],
    ['05:00-sunrise', '2026-05-01T05:30', true],
    ['sunrise-60m-sunrise+60m', '2026-05-01T05:00', true],
  ])('%s at %s: %s', (range, time, expected) => {
    expect(isWithin(range, local(time, 'Europe/Berlin'), berlin)).toBe(expected)
  })

  test('far from UTC, the sun of the local day counts', () => {
    const auckland = { latitude: -36.8, longitude: 174.8, timeZone: 'Pacific/Auckland' }
    expect(isWithin('sunset-sunrise', Date.parse('2026-12-20T12:00:00+13:00'), auckland)).toBe(false)
    expect(isWithin('sunset-sunrise', Date.parse('2026-12-20T22:00:00+13:00'), auckland)).toBe(true)
    expect(isWithin('sunset-sunrise', Date.parse('2026-12-20T03:00:00+13:00'), auckland)).toBe(true)
  })

  test('where the sun does not set, it is never night; where it does not rise, always', () => {
    for (const hour of ['00:10', '06:00', '12:00', '18:00', '23:50']) {
      expect(isWithin('sunset-sunrise', local(`2026-06-21T${hour}`, tromsoe.timeZone), tromsoe)).toBe(false)
      expect(isWithin('sunset-sunrise', local(`2026-12-21T${hour}`, tromsoe.timeZone), tromsoe)).toBe(true)
    }
  })

  test('at any place and moment it is either day or night', () => {
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Auckland', 'America/Anchorage')
    const place = fc.record({
      latitude: fc.double({ min: -89, max: 89, noNaN: true }),
      longitude: fc.double({ min: -180, max: 180, noNaN: true }),
      timeZone: zones,
    })
    const day = Date.parse('2026-01-01T00:00:00Z')
    fc.assert(
      fc.property(place, fc.integer({ min: 0, max: 366 * 1_440 }), (where, minute) => {
        const at = day + minute * 60_000
        const [isDay, isNight] = [isWithin('sunrise-sunset', at, where), isWithin('sunset-sunrise', at, where)]
        expect([isDay, isNight].filter(Boolean)).toHaveLength(1)
      }),
      { numRuns: 300 },
    )
  })
})

describe('days of the week', () => {
  test.each([
    // 2026-05-01 is a Friday.
    ['Mon-Fri 18:00-06:00', '2026-05-01T17:59', false],
    ['Mon-Fri 18:00-06:00', '2026-05-01T18:00', true],
    ['Mon-Fri 18:00-06:00', '2026-05-02T05:59', true],
    ['Mon-Fri 18:00-06:00', '2026-05-02T06:00', false],
    ['Mon-Fri 18:00-06:00', '2026-05-02T18:00', false],
    ['Mon-Fri 18:00-06:00', '2026-05-04T05:00', false],
    ['Sat,Sun', '2026-05-01T23:59', false],
    ['Sat,Sun', '2026-05-02T00:00', true],
    ['Sat,Sun', '2026-05-03T23:59', true],
    ['Sat,Sun', '2026-05-04T00:00', false],
    ['Sun 22:00-06:00', '2026-05-04T05:59', true],
    ['Mon-Fri sunset-sunrise', '2026-05-02T05:45', true],
    ['Mon-Fri sunset-sunrise', '2026-05-02T21:00', false],
    ['Mon-Fri sunset-sunrise', '2026-05-04T21:00', true],
  ])('%s at %s: %s', (range, time, expected) => {
    expect(isWithin(range, local(time, 'Europe/Berlin'), berlin)).toBe(expected)
  })

  test('both those of the hours and those of the rule count', () => {
    const within = (time: string) => isWithin('Mon-Fri', local(time, 'Europe/Berlin'), berlin, ['friday', 'saturday'])
    expect(['2026-04-30T12:00', '2026-05-01T12:00', '2026-05-02T12:00'].map(within)).toEqual([false, true, false])
  })

  test('the end of a blocked weekend is days away', () => {
    const saturday = local('2026-05-02T10:00', 'Europe/Berlin')
    expect(nextChange('Sat,Sun', saturday, berlin)).toBe(local('2026-05-04T00:00', 'Europe/Berlin'))
    expect(nextChange('Sat,Sun', local('2026-05-04T10:00', 'Europe/Berlin'), berlin)).toBe(
      local('2026-05-09T00:00', 'Europe/Berlin'),
    )
    expect(nextChange('Mon-Sun', saturday, berlin)).toBeNull()
  })

  test('a Sunday needs no place, and sunset does', () => {
    expect(['Sun', 'Sun 10:00-12:00', 'sunset-sunrise', 'Sun sunset-sunrise'].map(needsPlace)).toEqual([
      false,
      false,
      true,
      true,
    ])
  })

  test.each(['Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York', 'UTC'])(
    'two years of minutes in %s are as the slow definition has them',
    (timeZone) => {
      const year = minutesOf(timeZone)
      const byDay = daysOf(year)
      const time = fc.integer({ min: 0, max: 1_439 })
      const schedule = fc.record({ from: time, to: time, days: fc.subarray([...WEEK_DAYS], { minLength: 1 }) })
      const anyMinute = fc.integer({ min: 0, max: year.length - 1 })
      fc.assert(
        fc.property(schedule, fc.array(anyMinute, { minLength: 60, maxLength: 60 }), (own, sample) => {
          const text = `${own.days.map((day) => day.slice(0, 3)).join(',')} ${clock(own.from)}-${clock(own.to)}`
          const slow = slowly(own, year, byDay)
          const edges = slow.flatMap((is, at) => (at > 0 && is !== slow[at - 1] ? [at - 1, at] : []))
          const tried = [...sample, ...edges.slice(0, 30), ...edges.filter((at) => isNearChange(year, at))]
          const wrong = tried.filter((at) => isWithin(text, year[at]!.at, { timeZone }) !== slow[at])
          expect(wrong.map((at) => `${text} at ${new Date(year[at]!.at).toISOString()}`)).toEqual([])
        }),
        { numRuns: 8 },
      )
    },
  )
})

type Minute = { at: number; day: number; weekDay: number; minute: number; offset: number }

const clock = (minute: number) =>
  [minute / 60, minute % 60].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')

/** Every minute of two years with the wall clock's day and minute. */
function minutesOf(timeZone: string): Minute[] {
  const begin = Temporal.PlainDate.from('2026-01-01').toZonedDateTime(timeZone)
  const end = begin.add({ years: 2 }).epochMilliseconds
  const all: Minute[] = []
  for (let half = begin.epochMilliseconds; half < end; half += 30 * 60_000) {
    const offset = Temporal.Instant.fromEpochMilliseconds(half).toZonedDateTimeISO(timeZone).offsetNanoseconds / 6e10
    for (let at = half; at < half + 30 * 60_000; at += 60_000) {
      const minutes = at / 60_000 + offset
      const day = Math.floor(minutes / 1_440)
      // 1970-01-01 was a Thursday.
      all.push({ at, day, weekDay: (day + 3) % 7, minute: minutes - day * 1_440, offset })
    }
  }
  return all
}

/** The clock is set within a day. */
function isNearChange(year: readonly Minute[], at: number): boolean {
  return year[Math.max(0, at - 1_440)]!.offset !== year[Math.min(year.length - 1, at + 1_440)]!.offset
}

/** The places of a day's minutes in the two years; those that the clock shows twice have the first. */
function daysOf(year: readonly Minute[]): Map<number, Map<number, number>> {
  const days = new Map<number, Map<number, number>>()
  for (const [index, { day, minute }] of year.entries()) {
    const ofDay = days.get(day) ?? new Map<number, number>()
    days.set(day, ofDay)
    if (!ofDay.has(minute)) ofDay.set(minute, index)
  }
  return days
}

function slowly(
  { from, to, days }: { from: number; to: number; days: readonly string[] },
  year: readonly Minute[],
  byDay: ReadonlyMap<number, ReadonlyMap<number, number>>,
): boolean[] {
  const indexOf = (day: number, minute: number): number => {
    const ofDay = byDay.get(day)
    if (!ofDay) return day < year[0]!.day ? 0 : year.length
    // A skipped time is later by the length of the gap, which the first minute after it ends.
    const gap = year[ofDay.get(1_439)!]!.offset - year[ofDay.get(0)!]!.offset
    return ofDay.get(minute) ?? ofDay.get(minute + gap)!
  }
  const is = Array.from(year, () => false)
  for (let day = year[0]!.day - 1; day <= year.at(-1)!.day; day++)
    if (days.includes(WEEK_DAYS[(day + 3) % 7]!))
      is.fill(true, indexOf(day, from), Math.max(indexOf(day, from), indexOf(to <= from ? day + 1 : day, to)))
  return is
}

test.each(['22:00', '22-06', '25:00-06:00', 'sunset-', 'noon-sunset', 'sunset+30-06:00', '6:00-7:00'])(
  '%s are no hours',
  (text) => expect(hoursList.safeParse(text).success).toBe(false),
)

test('a time zone is one that exists, and a place has both coordinates', () => {
  expect(siteSettings.safeParse({ timeZone: 'Europe/Nowhere' }).success).toBe(false)
  expect(siteSettings.safeParse({ latitude: 52 }).success).toBe(false)
  expect(siteSettings.safeParse(berlin).success).toBe(true)
})
