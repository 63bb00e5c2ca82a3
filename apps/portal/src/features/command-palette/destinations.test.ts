import { expect, it } from 'vitest'
import { findDestinations, SCREENS } from './destinations.ts'

const fleet = [
  { id: 'aaaaaaaaaaaa', name: 'North orchard', location: 'Row 12' },
  { id: 'bbbbbbbbbbbb', name: 'Barn', location: '' },
  { id: 'cccccccccccc', name: 'Old north gate', location: 'Settings Road' },
]
const names = (text: string) => findDestinations(text, fleet).map(({ name }) => name)

it('offers every screen before anything is typed', () => {
  expect(findDestinations('  ', fleet)).toEqual(SCREENS)
})

it('ranks names that begin with the text first, then names with such a word, then other matches', () => {
  expect(names('north')).toEqual(['North orchard', 'Old north gate'])
  expect(names('settings')).toEqual(['Settings', 'Auto-approval settings', 'Old north gate'])
})

it('finds a gateway by its place and its id, and leads to its page', () => {
  expect(findDestinations('row orch', fleet)).toEqual([
    { path: '/gateways/aaaaaaaaaaaa', name: 'North orchard', hint: 'Row 12' },
  ])
  expect(names('bbbb')).toEqual(['Barn'])
})

it('shows ten of thousands', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => ({ id: `id${index}`, name: `Gate ${index}`, location: '' }))
  expect(findDestinations('gate', many)).toHaveLength(10)
})
