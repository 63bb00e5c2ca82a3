import { expect, it } from 'vitest'
import { clockOffset, formatBytes, formatDuration, formatLoad, restartsInWords } from './amounts.ts'

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.00 kB'],
  [12_345, '12.3 kB'],
  [999_499, '999 kB'],
  [999_600, '1.00 MB'],
  [1_250_000_000, '1.25 GB'],
])('shows %i bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

it.each([
  [0.4, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [3_599, '59 min'],
  [3_660, '1 h 1 min'],
  [90_000, '1 d 1 h'],
])('shows %f seconds as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})

it.each([
  [0, '0.00'],
  [0.324, '0.32'],
  [1, '1.00'],
  [16.44, '16.4'],
  [99_999, '99999'],
])('shows a load of %f for each core as %s', (load, text) => {
  expect(formatLoad(load)).toBe(text)
})

it('gives the offset of a clock, without the time that a message takes', () => {
  const at = '2026-11-21T08:00:00.000Z'
  const ms = Date.parse(at)
  expect(clockOffset(ms - 800, at)).toBe('correct')
  expect(clockOffset(ms + 45_000, at)).toBe('45 s ahead')
  expect(clockOffset(ms - 7_200_000, at)).toBe('2 h 0 min behind')
})

it.each([
  [0, 0, 0, 'none'],
  [3, 0, 0, '3 since the device started'],
  [3, 0, 2, '2 in the last day'],
  [40, 12, 40, '12 in the last hour'],
])('says that the agent restarted %i times', (sinceBoot, lastHour, lastDay, words) => {
  expect(restartsInWords({ sinceBoot, lastHour, lastDay, reason: '' })).toBe(words)
})
