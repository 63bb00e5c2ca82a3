import { expect, test } from 'vitest'
import { duration } from './duration.ts'

test.each([
  ['3600', ' (1 hour)'],
  ['5400', ' (90 minutes)'],
  ['172800', ' (2 days)'],
  ['604800', ' (1 week)'],
  ['61', ''],
  ['0', ''],
  ['', ''],
  ['soon', ''],
])('%j seconds read as %j', (typed, words) => {
  expect(duration(typed)).toBe(words)
})
