import { expect, test } from 'vitest'
import { afterQuietHours } from './quiet-hours.ts'

test('quiet hours end by the clock of the person, also over midnight', () => {
  const at = (time: string) => Date.parse(`2026-05-01T${time}:00Z`)
  const night = { quietHours: { from: '22:00', to: '06:30' }, timeZone: 'Europe/Berlin' }
  expect(afterQuietHours(at('19:59'), night)).toBe(at('19:59'))
  expect(new Date(afterQuietHours(at('20:00'), night)).toISOString()).toBe('2026-05-02T04:30:00.000Z')
  expect(new Date(afterQuietHours(at('04:29'), night)).toISOString()).toBe('2026-05-01T04:30:00.000Z')
  expect(afterQuietHours(at('04:30'), night)).toBe(at('04:30'))
  expect(afterQuietHours(at('20:00'), { quietHours: null, timeZone: 'UTC' })).toBe(at('20:00'))
})

test.each([
  ['a night without the hour from 2 to 3', '2026-03-28T22:00Z', '06:30', '2026-03-29T04:30:00.000Z'],
  ['a night with that hour twice', '2026-10-24T21:00Z', '06:30', '2026-10-25T05:30:00.000Z'],
  ['an end that the clock leaps over', '2026-03-28T22:00Z', '02:30', '2026-03-29T01:00:00.000Z'],
  ['an end that comes twice: the first', '2026-10-24T21:00Z', '02:30', '2026-10-25T00:30:00.000Z'],
  ['after the change', '2026-03-29T02:00Z', '06:30', '2026-03-29T04:30:00.000Z'],
])('on %s quiet hours end by the wall clock', (_night, now, to, end) => {
  const berlin = { quietHours: { from: '22:00', to }, timeZone: 'Europe/Berlin' }
  expect(new Date(afterQuietHours(Date.parse(now), berlin)).toISOString()).toBe(end)
})

test('where the clock is set by half an hour, and in zones of half an hour', () => {
  const night = { from: '22:00', to: '06:30' }
  const end = (timeZone: string, now: string) =>
    new Date(afterQuietHours(Date.parse(now), { quietHours: night, timeZone })).toISOString()
  expect(end('Australia/Lord_Howe', '2026-10-03T13:00Z')).toBe('2026-10-03T19:30:00.000Z')
  expect(end('Asia/Kolkata', '2026-10-03T17:00Z')).toBe('2026-10-04T01:00:00.000Z')
})

test('quiet hours by day, one after the other', () => {
  const quietHours = [
    { from: '22:00', to: '06:00', days: ['monday' as const, 'friday' as const] },
    { from: '00:00', to: '24:00', days: ['saturday' as const, 'sunday' as const] },
  ]
  const end = (now: string) =>
    new Date(afterQuietHours(Date.parse(now), { quietHours, timeZone: 'UTC' })).toISOString().slice(0, 16)
  // 2026-05-01 is a Friday.
  expect(end('2026-05-01T21:59Z')).toBe('2026-05-01T21:59')
  expect(end('2026-05-01T22:00Z')).toBe('2026-05-04T00:00')
  expect(end('2026-05-03T12:00Z')).toBe('2026-05-04T00:00')
  expect(end('2026-05-04T23:00Z')).toBe('2026-05-05T06:00')
  expect(end('2026-05-05T23:00Z')).toBe('2026-05-05T23:00')
})

test('quiet hours without an end still let a message through one day', () => {
  const always = { quietHours: { from: '00:00', to: '24:00' }, timeZone: 'UTC' }
  const now = Date.parse('2026-05-01T12:00Z')
  expect(afterQuietHours(now, always) - now).toBeLessThan(31 * 86_400_000)
})
