import type { Gateway } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { isFoldedAtFirst, isWanted, readView, sitesOf, sortBy, sortGateways, writeView, type View } from './view.ts'

const usual: View = {
  search: '',
  status: 'any',
  protection: 'any',
  site: '',
  tag: '',
  alert: '',
  sort: 'status',
  descending: false,
  layout: 'table',
}
const gateway = (name: string, more: Partial<Gateway> = {}) =>
  ({
    name,
    status: 'online',
    protection: { state: 'protected', reason: '', until: null, isBrief: false },
    location: '',
    site: null,
    publicIp: null,
    vpnInternalIp: '10.100.0.2',
    version: null,
    lastSeen: null,
    connectedUsers: 0,
    applications: [],
    blockedUdp: null,
    ...more,
  }) as Gateway
const names = (gateways: readonly Gateway[], view: Partial<View>) =>
  sortGateways(gateways, { ...usual, ...view }).map(({ name }) => name)

it('reads the same view back from the address', () => {
  const view: View = {
    search: 'north & south',
    status: 'warning',
    protection: 'not',
    site: 'k3jd5m2abcde',
    tag: 'öst',
    alert: 'a-1_b',
    sort: 'seen',
    descending: true,
    layout: 'cards',
  }
  const written = writeView(new URLSearchParams('token=DT-0123456789AB'), view)
  expect(written.get('token')).toBe('DT-0123456789AB')
  expect(readView(new URLSearchParams(written.toString()))).toEqual(view)
})

it('leaves default values out of the address', () => {
  expect(
    writeView(
      new URLSearchParams('q=x&status=online&protection=blind&site=x&tag=north&sort=-name&view=cards'),
      usual,
    ).toString(),
  ).toBe('')
})

it('ignores unknown values in the address', () => {
  expect(readView(new URLSearchParams('status=broken&sort=constructor&alert=a/b'))).toEqual(usual)
})

it('reverses the order when the same column is chosen again', () => {
  expect(sortBy({ ...usual, sort: 'name' }, 'name')).toMatchObject({ sort: 'name', descending: true })
  expect(sortBy({ ...usual, descending: true }, 'users')).toMatchObject({ sort: 'users', descending: false })
})

it('orders numbers in names by value, also in reverse', () => {
  const fleet = [gateway('Gate 10'), gateway('Gate 2'), gateway('barn')]
  expect(names(fleet, {})).toEqual(['barn', 'Gate 2', 'Gate 10'])
  expect(names(fleet, { descending: true })).toEqual(['Gate 10', 'Gate 2', 'barn'])
})

const as = (state: Gateway['protection']['state']) => ({
  protection: { state, reason: '', until: null, isBrief: false },
})
const fleetOfAll = [
  gateway('A'),
  gateway('B', { status: 'warning' }),
  gateway('C', { status: 'warning', ...as('blind') }),
  gateway('D', as('disarmed')),
  gateway('E', { status: 'offline', ...as('offline') }),
  gateway('F', as('firing')),
  gateway('G', as('unproven')),
  gateway('D2', as('disarmed')),
]

it('orders at first by what is not protected, offline first, then warnings, then names', () => {
  expect(names(fleetOfAll, {})).toEqual(['E', 'D', 'D2', 'C', 'G', 'B', 'A', 'F'])
})

it('has the gateways of a protection, or all that are not protected', () => {
  const wanted = (protection: View['protection']) =>
    fleetOfAll.filter((one) => isWanted({ ...one, tags: [] }, { ...usual, protection })).map(({ name }) => name)
  expect(wanted('any')).toHaveLength(8)
  expect(wanted('not')).toEqual(['C', 'D', 'E', 'G', 'D2'])
  expect(wanted('attention')).toEqual(['B', 'C', 'D', 'E', 'D2'])
  expect(wanted('disarmed')).toEqual(['D', 'D2'])
  expect(wanted('protected')).toEqual(['A', 'B'])
})

const VALLEY = { id: 'kkkkkkkkkkkk', name: 'Valley' }

it('groups by site, the site with the worst gateway first, and counts what is not well', () => {
  const at = (location: string, one: Gateway) => ({ ...one, location })
  const fleet = [
    at('Hill', gateway('A')),
    at('Hill', gateway('B')),
    at('Behind the mill', gateway('C', { status: 'warning', site: VALLEY })),
    at('', gateway('D', { ...as('disarmed'), site: VALLEY })),
    at('', gateway('E', { status: 'offline', ...as('offline') })),
    at('', gateway('F', { site: VALLEY, protection: { state: 'blocked', reason: '', until: null, isBrief: true } })),
  ]
  const sites = sitesOf(sortGateways(fleet, usual), 'status')!
  expect(sites.map(({ name, gateways, lacking, warnings }) => [name, gateways.length, lacking, warnings])).toEqual([
    ['', 1, [['offline', 1]], 0],
    ['Valley', 3, [['disarmed', 1]], 1],
    ['Hill', 2, [], 0],
  ])
  expect(sites.flatMap(({ gateways }) => gateways)).toHaveLength(fleet.length)
  expect(sites.map((site) => isFoldedAtFirst(site, 60))).toEqual([false, false, true])
  expect(sites.map((site) => isFoldedAtFirst(site, 59))).toEqual([false, false, false])
  expect(sitesOf(sortGateways(fleet, { ...usual, sort: 'location' }), 'location')?.map(({ name }) => name)).toEqual([
    '',
    'Hill',
    'Valley',
  ])
})

it('makes no groups where they would say nothing', () => {
  const each = [gateway('A', { location: 'Hill' }), gateway('B', { location: 'Valley' })]
  expect(sitesOf(each, 'status')).toBeUndefined()
  expect(sitesOf([gateway('A'), gateway('B')], 'status')).toBeUndefined()
  expect(sitesOf([...each, gateway('C', { location: 'Hill' })], 'version')).toBeUndefined()
  expect(sitesOf([], 'status')).toBeUndefined()
})

it('orders versions as versions', () => {
  const fleet = ['1.10.0', '1.9.0', '1.10.0-rc.1'].map((version) => gateway(version, { version }))
  expect(names(fleet, { sort: 'version' })).toEqual(['1.9.0', '1.10.0-rc.1', '1.10.0'])
})

it('orders by last seen, with never seen ones last', () => {
  const fleet = [
    gateway('never'),
    gateway('old', { lastSeen: '2026-11-20T08:00:00.000Z' }),
    gateway('new', { lastSeen: '2026-11-21T08:00:00.000Z' }),
  ]
  expect(names(fleet, { sort: 'seen' })).toEqual(['new', 'old', 'never'])
})

it('orders addresses by their numbers', () => {
  const fleet = [gateway('a', { vpnInternalIp: '10.100.0.10' }), gateway('b', { vpnInternalIp: '10.100.0.9' })]
  expect(names(fleet, { sort: 'address' })).toEqual(['b', 'a'])
})

it('finds the gateways of a site by its id, and by its name as older addresses have it', () => {
  const fleet = [gateway('A', { site: VALLEY, location: 'Behind the mill' }), gateway('B', { location: 'Hill' })]
  const at = (site: string) => fleet.filter((one) => isWanted(one, { ...usual, site })).map(({ name }) => name)
  expect([at(VALLEY.id), at('Valley'), at('Hill'), at('Behind the mill'), at('')]).toEqual([
    ['A'],
    ['A'],
    ['B'],
    [],
    ['A', 'B'],
  ])
})
