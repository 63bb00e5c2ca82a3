import { expect, test } from 'vitest'
import { equalFailures } from './equal-failures.ts'

test('many failures with the same message are one group, others stay alone', () => {
  const items = ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key }))
  const full = { done: false, message: 'The hub is full.' }
  const outcomes = new Map([
    ['a', { done: true, message: 'The hub is full.' }],
    ['b', full],
    ['c', { done: false, message: 'Somebody else decided.' }],
    ['d', full],
  ])
  expect(equalFailures(items, outcomes, 1)).toEqual([['The hub is full.', [{ key: 'b' }, { key: 'd' }]]])
  expect(equalFailures(items, outcomes, 2)).toEqual([])
})
