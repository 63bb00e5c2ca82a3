import { describe, expect, test } from 'vitest'
import { EVERYTHING, queryOf } from './filter.ts'

describe('the filter of the audit log', () => {
  test('selects everything when it is empty', () => {
    expect(queryOf(EVERYTHING)).toEqual({})
    expect(queryOf({ ...EVERYTHING, search: '   ' })).toEqual({})
  })

  test('selects by the search and by one kind of action', () => {
    expect(queryOf({ ...EVERYTHING, search: ' rosa ', action: 'session' })).toEqual({ q: 'rosa', action: 'session' })
  })

  test('includes both days completely', () => {
    const { from, to } = queryOf({ ...EVERYTHING, from: '2026-11-20', to: '2026-11-21' })
    expect(new Date(from!).getTime()).toBe(new Date(2026, 10, 20).getTime())
    expect(new Date(to!).getTime()).toBe(new Date(2026, 10, 22).getTime())
  })

  test('crosses the end of a month', () => {
    expect(new Date(queryOf({ ...EVERYTHING, to: '2028-02-29' }).to!).getTime()).toBe(new Date(2028, 2, 1).getTime())
  })
})
