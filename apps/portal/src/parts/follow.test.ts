import { expect, it } from 'vitest'
import { follow } from './follow.ts'

const BEFORE = { name: 'Mill', open: true, ranges: ['198.51.100.0/24'] }
const SAVED = { name: 'Old mill', open: false, ranges: ['203.0.113.0/24'] }

it('replaces values that were not changed, also a list that was made anew', () => {
  expect(follow({ ...BEFORE, ranges: [...BEFORE.ranges] }, BEFORE, SAVED)).toEqual(SAVED)
})

it('keeps values that were changed', () => {
  expect(follow({ ...BEFORE, name: 'My mill' }, BEFORE, SAVED)).toEqual({ ...SAVED, name: 'My mill' })
  expect(follow({ ...BEFORE, ranges: [] }, BEFORE, SAVED)).toEqual({ ...SAVED, ranges: [] })
  expect(follow({ ...BEFORE, open: false }, BEFORE, { ...BEFORE, name: 'Old mill' })).toEqual({
    ...BEFORE,
    name: 'Old mill',
    open: false,
  })
})
