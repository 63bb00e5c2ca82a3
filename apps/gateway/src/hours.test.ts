import { expect, test } from 'vitest'
import { hoursList, isWithin } from './hours.ts'

const BERLIN = { latitude: 52.1, longitude: 9.3, timeZone: 'Europe/Berlin' }
const at = (text: string): number => Date.parse(text)

test.each([
  ['22:00-06:00', '2026-06-01T21:59:00+02:00', false],
  ['22:00-06:00', '2026-06-01T22:00:00+02:00', true],
  ['22:00-06:00', '2026-06-01T05:59:00+02:00', true],
  ['22:00-06:00', '2026-06-01T06:00:00+02:00', false],
  ['08:00-12:00', '2026-12-01T08:30:00+01:00', true],
  ['00:00-24:00', '2026-12-01T23:59:00+01:00', true],
  // The sun sets there at 21:33 in June and at 16:11 in December.
  ['sunset-sunrise', '2026-06-20T21:20:00+02:00', false],
  ['sunset-sunrise', '2026-06-20T21:50:00+02:00', true],
  ['sunset-sunrise', '2026-06-20T04:40:00+02:00', true],
  ['sunset-sunrise', '2026-06-20T05:30:00+02:00', false],
  ['sunset-sunrise', '2026-12-20T16:40:00+01:00', true],
  ['sunset-23:00', '2026-12-20T23:30:00+01:00', false],
  [['06:00-08:00', '20:00-22:00'], '2026-12-20T21:00:00+01:00', true],
  [['06:00-08:00', '20:00-22:00'], '2026-12-20T12:00:00+01:00', false],
])('%j at %s: %s', (hours, time, expected) => {
  expect(isWithin(hoursList.parse(hours), at(time), BERLIN)).toBe(expected)
})

test('far from UTC the sun of the local day counts', () => {
  const auckland = { latitude: -36.8, longitude: 174.8, timeZone: 'Pacific/Auckland' }
  expect(isWithin('sunset-sunrise', at('2026-12-20T12:00:00+13:00'), auckland)).toBe(false)
  expect(isWithin('sunset-sunrise', at('2026-12-20T22:00:00+13:00'), auckland)).toBe(true)
  expect(isWithin('sunset-sunrise', at('2026-12-20T03:00:00+13:00'), auckland)).toBe(true)
})

test('where the sun does not set there is no night, and where it does not rise there is no day', () => {
  const svalbard = { latitude: 78.2, longitude: 15.6, timeZone: 'Arctic/Longyearbyen' }
  const hoursOfDay = Array.from({ length: 24 }, (_, hour) => hour * 3_600_000)
  const june = at('2026-06-20T00:00:00+02:00')
  const december = at('2026-12-20T00:00:00+01:00')
  expect(hoursOfDay.some((ms) => isWithin('sunset-sunrise', june + ms, svalbard))).toBe(false)
  expect(hoursOfDay.every((ms) => isWithin('sunset-sunrise', december + ms, svalbard))).toBe(true)
  expect(hoursOfDay.every((ms) => isWithin('sunrise-sunset', june + ms, svalbard))).toBe(true)
})

test.each(['22-6', '25:00-06:00', 'sunset', 'sunset-sunrise-noon', ''])('%j is not taken', (text) => {
  expect(hoursList.safeParse(text).success).toBe(false)
})
