import type { Incident } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { bySite } from './by-site.ts'

it('groups an alert by site, the one with the most first, and names people first', () => {
  const seen = (label: string, location: string, gatewayName = 'Barn') => ({ label, location, gatewayName }) as Incident
  const sites = bySite([
    seen('deer', 'Hill'),
    seen('deer', 'Valley'),
    seen('boar', '', 'Mill'),
    seen('person', 'Valley'),
    seen('deer', 'Valley', 'Gate'),
  ])
  expect(sites.map(({ name, words, incidents }) => [name, words, incidents.length])).toEqual([
    ['Valley', 'person 1, deer 2', 3],
    ['Hill', 'deer 1', 1],
    ['Mill', 'boar 1', 1],
  ])
})
