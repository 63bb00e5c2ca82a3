import { expect, test } from 'vitest'
import { withoutNew } from './use-held.ts'

const list = (ids: string) => [...ids].map((id) => ({ id }))

test('what came since waits, also between known incidents; older pages are shown, changed and gone ones follow', () => {
  const known = list('bde')
  expect(withoutNew(list('abcdefg'), known)).toEqual(list('bdefg'))
  expect(withoutNew([{ id: 'd', label: 'deer' }, { id: 'x' }], known)).toEqual([
    { id: 'd', label: 'deer' },
    { id: 'x' },
  ])
  // Another filter has none of them.
  expect(withoutNew(list('xyz'), known)).toEqual(list('xyz'))
})
