import type { Gateway } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { searchGateways } from './search.ts'

const gateway = (name: string, location: string, vpnInternalIp: string) =>
  ({ id: 'abcdefghijkl', name, location, vpnInternalIp, publicIp: null, version: '1.2.0', status: 'online' }) as Gateway
const barn = gateway('Barn', 'North field', '10.100.0.2')
const gate = gateway('Gate', 'South road', '10.100.0.3')

it('finds a gateway by any column, whatever the case', () => {
  expect(searchGateways([barn, gate], 'NORTH')).toEqual([barn])
  expect(searchGateways([barn, gate], '0.0.3')).toEqual([gate])
  expect(searchGateways([barn, gate], 'online')).toEqual([barn, gate])
})

it('asks for every word', () => {
  expect(searchGateways([barn, gate], 'barn north')).toEqual([barn])
  expect(searchGateways([barn, gate], 'barn south')).toEqual([])
})

it('shows all for a blank search', () => {
  const all = [barn, gate]
  expect(searchGateways(all, '  ')).toBe(all)
})
