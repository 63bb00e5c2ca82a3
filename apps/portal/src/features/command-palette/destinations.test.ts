import { expect, it } from 'vitest'
import type { Role } from '@hedgerow/contract'
import { findDestinations, SCREENS, type Known } from './destinations.ts'

const known: Known = {
  role: 'admin',
  gateways: [
    { id: 'aaaaaaaaaaaa', name: 'North orchard', location: 'Row 12', tags: ['apples'] },
    { id: 'bbbbbbbbbbbb', name: 'Barn', location: '', tags: ['hay', 'winter'] },
    { id: 'cccccccccccc', name: 'Old north gate', location: 'Settings Road', tags: ['winter'] },
  ],
  users: [{ username: 'rosa.lind', firstName: 'Rosa', lastName: 'Lind', email: 'rosa@farm.example' }],
}
const names = (text: string, role: Role = 'admin') => findDestinations(text, { ...known, role }).map(({ name }) => name)

it('offers every screen before anything is typed', () => {
  expect(findDestinations('  ', known)).toEqual(SCREENS)
})

it('ranks names that begin with the text first, then names with such a word, then other matches', () => {
  expect(names('north')).toEqual(['North orchard', 'Old north gate'])
  expect(names('settings')).toEqual([
    'Settings',
    'Auto-approval settings',
    'General settings',
    'Security settings',
    'Network settings',
    'Old north gate',
  ])
})

it('finds a gateway by its place and its id, and leads to its page', () => {
  expect(findDestinations('row orch', known)).toEqual([
    { path: '/gateways/aaaaaaaaaaaa', name: 'North orchard', hint: 'Row 12' },
  ])
  expect(names('bbbb')).toEqual(['Barn'])
})

it('finds a tag, and the gateways that have it', () => {
  expect(findDestinations('winter', known)).toEqual([
    { path: '/gateways?tag=winter', name: 'winter', hint: 'Tag of 2 gateways' },
    { path: '/gateways/bbbbbbbbbbbb', name: 'Barn', hint: 'Gateway' },
    { path: '/gateways/cccccccccccc', name: 'Old north gate', hint: 'Settings Road' },
  ])
})

it('finds users by name and address, settings by their label, and commands', () => {
  expect(findDestinations('rosa@', known)).toEqual([{ path: '/users?q=rosa.lind', name: 'Rosa Lind', hint: 'User' }])
  expect(findDestinations('session', known)).toEqual([
    { path: '/settings?tab=security#sessionTimeout', name: 'Session timeout', hint: 'Setting' },
  ])
  expect(findDestinations('dark', known)).toEqual([{ command: 'dark', name: 'Dark theme', hint: 'Action' }])
})

it.each([
  ['sign out', ['Logout']],
  ['retention', ['Keep records for (days)']],
  ['2fa', ['Profile', 'Two-factor authentication']],
  ['mqtt', ['Commands from Home Assistant']],
  [
    'detections',
    [
      'Detections per gateway and hour',
      'Detections kept per gateway',
      'Megabytes of detections per gateway and hour',
      'Megabytes of detections kept in total',
      'Threats',
    ],
  ],
])('finds by the word that people use: %s', (word, found) => {
  expect(names(word).toSorted()).toEqual(found.toSorted())
})

it('offers only the actions of the role', () => {
  expect(names('add ')).toEqual(['Add gateway', 'Add user'])
  expect(names('add ', 'manager')).toEqual(['Add gateway'])
  expect(names('add ', 'user')).toEqual([])
  expect(names('claim', 'user')).toEqual(['Claim gateway'])
})

it('shows ten of thousands', () => {
  const gateways = Array.from({ length: 5_000 }, (_, index) => ({
    id: `id${index}`,
    name: `Gate ${index}`,
    location: '',
    tags: [],
  }))
  expect(findDestinations('gate', { ...known, gateways })).toHaveLength(10)
})
