import type { Gateway } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { searchAmong } from './search.ts'

const gateway = (name: string, location: string, vpnInternalIp: string) =>
  ({
    id: 'abcdefghijkl',
    name,
    location,
    site: location === 'South road' ? { id: 'kkkkkkkkkkkk', name: 'Low mill' } : null,
    tags: [] as string[],
    vpnInternalIp,
    publicIp: null,
    version: '1.2.0',
    status: 'online',
    protection: {
      state: location === 'South road' ? 'disarmed' : 'protected',
      reason: '',
      until: null,
      isBrief: false,
    },
  }) as Gateway
const barn = gateway('Barn', 'North field', '10.100.0.2')
const gate = gateway('Gate', 'South road', '10.100.0.3')

it('finds a gateway by any column, whatever the case', () => {
  expect(searchAmong([barn, gate])('NORTH')).toEqual([barn])
  expect(searchAmong([barn, gate])('0.0.3')).toEqual([gate])
  expect(searchAmong([barn, gate])('online')).toEqual([barn, gate])
  expect(searchAmong([barn, gate])('disarmed')).toEqual([gate])
  expect(searchAmong([barn, gate])('low mill')).toEqual([gate])
})

it('requires every word', () => {
  expect(searchAmong([barn, gate])('barn north')).toEqual([barn])
  expect(searchAmong([barn, gate])('barn south')).toEqual([])
})

it('shows all for a blank search', () => {
  const all = [barn, gate]
  expect(searchAmong(all)('  ')).toBe(all)
})
