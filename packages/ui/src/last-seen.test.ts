import { expect, it } from 'vitest'
import { lastSeen, timeLeft } from './last-seen.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
const ago = (ms: number) => new Date(now - ms).toISOString()

it.each([
  ['a moment ago', 0, 'Just now'],
  ['59.999 s', 59_999, 'Just now'],
  ['a minute', 60_000, '1m ago'],
  ['just under an hour', 3_599_999, '59m ago'],
  ['an hour', 3_600_000, '1h ago'],
  ['just under a day', 86_399_999, '23h ago'],
])('shows %s in the agreed words', (_, age, text) => {
  expect(lastSeen(ago(age), now)).toBe(text)
})

it('shows a date after one day', () => {
  expect(lastSeen(ago(86_400_000), now)).toBe(new Date(now - 86_400_000).toLocaleDateString())
})

it('shows Never without a time', () => {
  expect(lastSeen(null, now)).toBe('Never')
})

it('shows a future time as just now', () => {
  expect(lastSeen(ago(-5_000), now)).toBe('Just now')
})

it.each([
  ['59.999 s', 59_999, 'in under 1m'],
  ['a minute', 60_000, 'in 1m'],
  ['just under a day', 86_399_999, 'in 23h'],
  ['a day', 86_400_000, 'in 1 day'],
  ['a week', 7 * 86_400_000, 'in 7 days'],
  ['a week, a minute after it began', 7 * 86_400_000 - 60_000, 'in 7 days'],
])('shows how far ahead %s is', (_, left, text) => {
  expect(timeLeft(ago(-left), now)).toBe(text)
})

it('shows a date for a time months ahead, and how long ago for a past time', () => {
  expect(timeLeft(ago(-100 * 86_400_000), now)).toBe(new Date(now + 100 * 86_400_000).toLocaleDateString())
  expect(timeLeft(ago(120_000), now)).toBe('2m ago')
})
