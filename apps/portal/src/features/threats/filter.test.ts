import { describe, expect, it } from 'vitest'
import { countsOf, EVERYTHING, queryOf, readFilter, writeFilter, type Filter } from './filter.ts'

describe('the filter of threats', () => {
  it('is read from the address, without unknown values', () => {
    const filter: Filter = {
      review: 'none',
      severity: 'alert',
      labels: ['boar', 'deer'],
      site: 'Valley',
      tag: 'north',
      gateway: 'abcdefghijkl',
      camera: 'gate',
      fired: true,
      learning: 'hidden',
      alert: 'a-1',
      from: '2026-05-01',
      to: '2026-05-02',
    }
    expect(readFilter(writeFilter(new URLSearchParams('incident=x'), filter))).toEqual(filter)
    expect(writeFilter(new URLSearchParams('incident=x'), filter).get('incident')).toBe('x')
    expect(readFilter(new URLSearchParams('review=maybe&severity=1&from=yesterday&camera=gate&label=,,'))).toEqual(
      EVERYTHING,
    )
    expect(writeFilter(new URLSearchParams('review=none'), EVERYTHING).toString()).toBe('')
  })

  it('requests whole days of this browser', () => {
    const { from, to } = queryOf({ ...EVERYTHING, from: '2026-05-01', to: '2026-05-01' })
    expect(from).toBe(new Date('2026-05-01T00:00:00').toISOString())
    expect(to).toBe(new Date('2026-05-02T00:00:00').toISOString())
    expect(queryOf(EVERYTHING)).toEqual({})
  })

  it('counts each facet under the filters of the other facets', () => {
    const groups = [
      { label: 'boar', severity: 'alert', review: 'none', isFired: true, count: 3 },
      { label: 'deer', severity: 'detection', review: 'none', isFired: false, count: 5 },
      { label: 'boar', severity: 'alert', review: 'wrong', isFired: false, count: 1 },
    ] as const
    const counts = (facet: 'label' | 'severity' | 'review' | 'fired', change: Partial<Filter>) =>
      Object.fromEntries(countsOf([...groups], facet, { ...EVERYTHING, ...change }))
    expect(counts('label', {})).toEqual({ deer: 5, boar: 4 })
    expect(counts('label', { labels: ['deer'] })).toEqual({ deer: 5, boar: 4 })
    expect(counts('label', { review: 'wrong' })).toEqual({ boar: 1 })
    expect(counts('review', { severity: 'alert' })).toEqual({ none: 3, wrong: 1 })
    expect(counts('fired', {})).toEqual({ no: 6, yes: 3 })
    expect(counts('fired', { fired: true, review: 'wrong' })).toEqual({ no: 1 })
    expect(counts('label', { fired: true })).toEqual({ boar: 3 })
  })
})
