import { expect, test } from 'vitest'
import { problemOf, rowsOf, valuesOf } from './label-rows.ts'

test('scores and sizes become rows, and the same again; what is empty is left out', () => {
  const values = {
    scores: { person: 0.5, animal: 0.35 },
    sizes: { person: { minimumArea: 0.001, maximumShape: 1.5 }, car: { maximumArea: 0.25 } },
  }
  const rows = rowsOf(values)
  expect(rows.map(({ label, score, minimumArea }) => [label, score, minimumArea])).toEqual([
    ['person', 50, 0.1],
    ['animal', 35, undefined],
    ['car', undefined, undefined],
  ])
  expect(valuesOf(rows)).toEqual(values)
})

test('a row that cannot be saved says why', () => {
  expect(problemOf([{ key: '1', label: ' ' }])).toBe('Each row needs a label.')
  expect(
    problemOf([
      { key: '1', label: 'a' },
      { key: '2', label: 'A ' },
    ]),
  ).toBe('A label has two rows.')
  expect(problemOf([{ key: '1', label: 'a', score: 5 }])).toBe('A score is at least 10 %.')
  expect(problemOf([{ key: '1', label: 'a', minimumArea: 5, maximumArea: 2 }])).toBe(
    'A minimum is less than its maximum.',
  )
  expect(problemOf([{ key: '1', label: 'a', minimumArea: 5, maximumArea: 20 }])).toBeUndefined()
})
