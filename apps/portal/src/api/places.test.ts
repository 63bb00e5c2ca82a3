import { expect, test } from 'vitest'
import { isAt, placeOf, placeOptions } from './places.ts'

const VALLEY = { id: 'kkkkkkkkkkkk', name: 'Valley' }
const all = [
  { site: VALLEY, location: 'Behind the mill' },
  { site: VALLEY, location: '' },
  { site: null, location: 'Hill 10' },
  { site: null, location: 'Hill 2' },
  { site: null, location: '' },
]

test('a place is a site or, without one, a location', () => {
  expect(all.map(placeOf)).toEqual(['Valley', 'Valley', 'Hill 10', 'Hill 2', ''])
  const choices = [
    ['', 'All sites'],
    ['Hill 2', 'Hill 2'],
    ['Hill 10', 'Hill 10'],
    [VALLEY.id, 'Valley'],
  ]
  expect(placeOptions(all, VALLEY.id)).toEqual(choices)
  expect(placeOptions(all, 'Elsewhere')).toEqual([...choices, ['Elsewhere', 'Elsewhere']])
  expect(placeOptions(all, 'aaaaaaaaaaaa')).toEqual([...choices, ['aaaaaaaaaaaa', 'A deleted site']])
  expect(all.filter((one) => isAt(one, 'Valley'))).toHaveLength(2)
})
