import type { Gateway } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { readView, sortBy, sortGateways, writeView, type View } from './view.ts'

const usual: View = { search: '', status: 'any', sort: 'name', descending: false, layout: 'table' }
const gateway = (name: string, more: Partial<Gateway> = {}) =>
  ({
    name,
    status: 'online',
    location: '',
    publicIp: null,
    vpnInternalIp: '10.100.0.2',
    version: null,
    lastSeen: null,
    connectedUsers: 0,
    blockedUdp: null,
    ...more,
  }) as Gateway
const names = (gateways: readonly Gateway[], view: Partial<View>) =>
  sortGateways(gateways, { ...usual, ...view }).map(({ name }) => name)

it('keeps a view in the address and reads the same one back', () => {
  const view: View = { search: 'north & south', status: 'warning', sort: 'seen', descending: true, layout: 'cards' }
  const written = writeView(new URLSearchParams('token=DT-0123456789AB'), view)
  expect(written.get('token')).toBe('DT-0123456789AB')
  expect(readView(new URLSearchParams(written.toString()))).toEqual(view)
})

it('leaves what is as usual out of the address', () => {
  expect(writeView(new URLSearchParams('q=x&status=online&sort=-name&view=cards'), usual).toString()).toBe('')
})

it('takes an address that names nothing known for the usual view', () => {
  expect(readView(new URLSearchParams('status=broken&sort=constructor'))).toEqual(usual)
})

it('turns the order round when the same column is asked for again', () => {
  expect(sortBy(usual, 'name')).toMatchObject({ sort: 'name', descending: true })
  expect(sortBy({ ...usual, descending: true }, 'users')).toMatchObject({ sort: 'users', descending: false })
})

it('orders numbers in names as people do, and turns round', () => {
  const fleet = [gateway('Gate 10'), gateway('Gate 2'), gateway('barn')]
  expect(names(fleet, {})).toEqual(['barn', 'Gate 2', 'Gate 10'])
  expect(names(fleet, { descending: true })).toEqual(['Gate 10', 'Gate 2', 'barn'])
})

it('puts what needs attention first by status, and by name among equals', () => {
  const fleet = [
    gateway('B', { status: 'offline' }),
    gateway('A', { status: 'online' }),
    gateway('D', { status: 'warning' }),
    gateway('C', { status: 'warning' }),
  ]
  expect(names(fleet, { sort: 'status' })).toEqual(['C', 'D', 'B', 'A'])
})

it('puts the last seen first and the never seen last', () => {
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
