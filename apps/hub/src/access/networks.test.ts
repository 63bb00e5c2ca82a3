import { expect, it } from 'vitest'
import { crowdsOf, networksOf, networkOf, whoGivesWay } from './networks.ts'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['::1', '::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['', ''],
])('an address counts with its network: %s as %s', (address, network) => expect(networkOf(address)).toBe(network))

it('an IPv6 address counts with its /64, its /56 and its /48, and in a crowd with its provider', () => {
  expect(networksOf('2001:db8:1:2ff::1').map(({ cidr }) => cidr)).toEqual([
    '2001:db8:1:2ff::/64',
    '2001:db8:1:200::/56',
    '2001:db8:1::/48',
  ])
  expect(crowdsOf('2001:db8:1:2ff::1').at(-1)?.cidr).toBe('2001:db8::/32')
  expect(crowdsOf('198.51.100.7').map(({ cidr }) => cidr)).toEqual(['198.51.100.7', '198.51.100.0/24'])
})

const addresses = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i))

it.each([
  ['one address', addresses(50, () => '198.51.100.1')],
  ['twenty /64s of one /48', addresses(50, (i) => `2001:db8:1:${(i % 20).toString(16)}::1`)],
  ['fifty /48s of one provider', addresses(50, (i) => `2001:db8:${i.toString(16)}::1`)],
])('from a crowd of %s, the newest is dropped for a newcomer, but not for one of the same crowd', (_, crowd) => {
  const others = ['203.0.113.1', '2001:db9::1', '203.0.113.9']
  const gives = whoGivesWay([...others, ...crowd, '192.0.2.1'].map(crowdsOf))
  expect(gives).toBeGreaterThanOrEqual(others.length)
  expect(gives).toBeLessThan(others.length + crowd.length)
  const queue = [...others, ...crowd, '192.0.2.1', crowd.at(-1)!]
  expect(whoGivesWay(queue.map(crowdsOf))).toBe(queue.length - 1)
})

it('many customers of one provider are not dropped for a crowd from one customer', () => {
  const customers = addresses(200, (i) => `2001:db8:${i.toString(16)}::1`)
  const crowd = addresses(150, (i) => `2001:db9:1:${i.toString(16)}::1`)
  expect(whoGivesWay([...customers, ...crowd, '192.0.2.1'].map(crowdsOf))).toBeGreaterThanOrEqual(200)
})

it('when every address is alone, the first is dropped', () => {
  expect(whoGivesWay(addresses(20, (i) => `198.51.${i}.1`).map(crowdsOf))).toBe(0)
})
