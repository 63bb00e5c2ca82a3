import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hoursList, isWithin, siteSettings } from './hours.ts'

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

test.each(['22:00', '22-06', '25:00-06:00', 'sunset-', 'noon-sunset', 'sunset+30-06:00', '6:00-7:00'])(
  '%s are no hours',
  (text) => expect(hoursList.safeParse(text).success).toBe(false),
)

test('a time zone is one that exists, and a place has both coordinates', () => {
  expect(siteSettings.safeParse({ timeZone: 'Europe/Nowhere' }).success).toBe(false)
  expect(siteSettings.safeParse({ latitude: 52 }).success).toBe(false)
  expect(siteSettings.safeParse(berlin).success).toBe(true)
})
