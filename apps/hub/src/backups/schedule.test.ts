import { expect, test } from 'vitest'
import { ageInWords } from './backups.ts'
import { HOUR_MS, isDue, isOverdue } from './schedule.ts'

const at = (text: string) => new Date(text).getTime()
const night = { at: { hour: 3, minute: 30 } }

test('every so many hours: without a backup, after them, and when the clock was set back', () => {
  const times = { hours: 6 }
  expect(isDue(times, undefined, 0)).toBe(true)
  expect(isDue(times, 0, 6 * HOUR_MS - 1)).toBe(false)
  expect(isDue(times, 0, 6 * HOUR_MS)).toBe(true)
  expect(isDue(times, 1_000, 0)).toBe(true)
})

test('at a time of day: once after it, also when the hub was off then', () => {
  const made = at('2026-03-10T03:30:20')
  expect(isDue(night, made, at('2026-03-10T23:59:00'))).toBe(false)
  expect(isDue(night, made, at('2026-03-11T03:29:59'))).toBe(false)
  expect(isDue(night, made, at('2026-03-11T03:30:00'))).toBe(true)
  expect(isDue(night, made, at('2026-03-15T12:00:00'))).toBe(true)
  expect(isDue(night, at('2026-03-10T12:00:00'), at('2026-03-10T13:00:00'))).toBe(false)
})

test('late by half a period and an hour', () => {
  expect(isOverdue(night, 0, 37 * HOUR_MS)).toBe(false)
  expect(isOverdue(night, 0, 37 * HOUR_MS + 1)).toBe(true)
  expect(isOverdue({ hours: 2 }, 0, 4 * HOUR_MS + 1)).toBe(true)
})

test.each([
  [0, 'less than an hour'],
  [HOUR_MS, '1 hour'],
  [47.9 * HOUR_MS, '47 hours'],
  [50 * HOUR_MS, '2 days'],
  [-5, 'less than an hour'],
])('%d ms are %s', (ms, words) => {
  expect(ageInWords(ms)).toBe(words)
})
