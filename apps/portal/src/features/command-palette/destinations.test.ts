import { expect, it } from 'vitest'
import type { Role } from '@hedgerow/contract'
import { findDestinations, SCREENS, type PaletteData } from './destinations.ts'

const known: PaletteData = {
  role: 'admin',
  gateways: [
    { id: 'aaaaaaaaaaaa', name: 'North orchard', location: 'Row 12', site: null, tags: ['apples'] },
    {
      id: 'bbbbbbbbbbbb',
      name: 'Barn',
      location: '',
      site: { id: 'kkkkkkkkkkkk', name: 'Lower farm' },
      tags: ['hay', 'winter'],
    },
    { id: 'cccccccccccc', name: 'Old north gate', location: 'Settings Road', site: null, tags: ['winter'] },
  ],
  users: [{ username: 'rosa.lind', firstName: 'Rosa', lastName: 'Lind', email: 'rosa@farm.example' }],
}
const names = (text: string, role: Role = 'admin') => findDestinations(text, { ...known, role }).map(({ name }) => name)

it('offers every screen before anything is typed', () => {
  expect(findDestinations('  ', known)).toEqual(SCREENS)
})

it('ranks names that begin with the text first, then names with such a word, then other matches', () => {
  expect(names('north')).toEqual(['North orchard', 'Old north gate'])
  expect(names('lower')).toEqual(['Barn'])
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
    { path: '/gateways/bbbbbbbbbbbb', name: 'Barn', hint: 'Lower farm' },
    { path: '/gateways/cccccccccccc', name: 'Old north gate', hint: 'Settings Road' },
  ])
})

it('finds users by name and address, settings by their label, and commands', () => {
  expect(findDestinations('rosa@', known)).toEqual([{ path: '/users?q=rosa.lind', name: 'Rosa Lind', hint: 'User' }])
  expect(findDestinations('session', known)).toEqual([
    { path: '/settings?tab=security#sessionTimeout', name: 'Session timeout', hint: 'Setting' },
    { path: '/profile#sessions', name: 'End signed-in sessions', hint: 'Action' },
  ])
  expect(findDestinations('dark', known)).toEqual([{ command: 'dark', name: 'Dark theme', hint: 'Action' }])
})

it.each([
  ['approve', 'Approve or reject gateways'],
  ['approve gateway', 'Approve or reject gateways'],
  ['pending', 'Approvals'],
  ['autoapproval', 'Auto-approval settings'],
  ['2fa', 'Two-factor sign-in'],
  ['2-factor', 'Two-factor sign-in'],
  ['two-factor', 'Two-factor sign-in'],
  ['two factor', 'Two-factor authentication'],
  ['authenticator', 'Two-factor sign-in'],
  ['sign out', 'Logout'],
  ['log-out', 'Logout'],
  ['night', 'Dark theme'],
  ['invite', 'Invite user'],
  ['invite gateway', 'Add gateway'],
  ['new user', 'Add user'],
  ['delete gateway', 'Edit, tag or delete gateways'],
  ['rename', 'Edit, tag or delete gateways'],
  ['upgrade', 'Update gateways'],
  ['false alarm', 'Review threats'],
  ['push', 'Get alerts on this device'],
  ['quiet hours', 'Get alerts on this device'],
  ['telegram', 'Alert rules'],
  ['live', 'Cameras'],
  ['permissions', 'Users'],
  ['https', 'Certificates'],
  ['log', 'Audit log'],
  ['retention', 'Keep records for (days)'],
  ['wireguard', 'VPN'],
  ['mqtt', 'Commands from Home Assistant'],
  ['manual', 'Help'],
])('finds by the words that people use: %s', (text, name) => {
  expect(names(text)).toContain(name)
})

it('finds an other word by its beginning, not by its middle', () => {
  expect(names('rowser')).toEqual([])
  expect(names('brows')).toEqual(['Get alerts on this device'])
})

it('offers only the actions of the role', () => {
  const actions = (text: string, role: Role) =>
    findDestinations(text, { ...known, role }).flatMap(({ hint, name }) => (hint === 'Action' ? [name] : []))
  expect(actions('add ', 'admin')).toEqual(['Add gateway', 'Add site', 'Add user', 'New alert rule'])
  expect(actions('add ', 'manager')).toEqual(['Add gateway', 'Add site'])
  expect(actions('add ', 'user')).toEqual([])
  expect(actions('claim', 'user')).toEqual(['Claim gateway'])
  for (const text of ['approve', 'delete', 'update', 'invite', 'new alert rule']) {
    expect(actions(text, 'user')).toEqual([])
    expect(actions(text, 'admin')).not.toEqual([])
  }
  expect(actions('approve', 'manager')).toEqual(['Approve or reject gateways'])
  expect(actions('new alert rule', 'manager')).toEqual([])
})

it('shows ten of thousands', () => {
  const gateways = Array.from({ length: 5_000 }, (_, index) => ({
    id: `id${index}`,
    name: `Gate ${index}`,
    location: '',
    site: null,
    tags: [],
  }))
  expect(findDestinations('gate', { ...known, gateways })).toHaveLength(10)
})
