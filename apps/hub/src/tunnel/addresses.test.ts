import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatIpv4, isGatewayAddress, lowestFreeAddress, parseIpv4, parseNetwork } from './addresses.ts'

const anyAddress = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const anyNetwork = fc
  .tuple(anyAddress, fc.integer({ min: 8, max: 30 }))
  .map(([address, length]) => parseNetwork(`${formatIpv4(address - (address % 2 ** (32 - length)))}/${length}`)!)

describe('an IPv4 address', () => {
  it('prints as it was written', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        expect(parseIpv4(formatIpv4(address))).toBe(address)
      }),
    )
  })

  it.each([
    '010.0.0.1',
    '10.1',
    '0x0a.0.0.1',
    '10.0.0.256',
    '10.0.0.1 ',
    '10.0.0.',
    '1e1.0.0.1',
    '+1.0.0.1',
    '１0.0.0.1',
    '::1',
    '',
  ])('is not %j', (text) => {
    expect(parseIpv4(text)).toBeUndefined()
  })
})

describe('a network', () => {
  it('gives the hub its first address', () => {
    expect(parseNetwork('10.100.0.0/16')).toMatchObject({ hubAddress: '10.100.0.1', prefixLength: 16 })
    expect(parseNetwork('192.168.7.4/30')!.hubAddress).toBe('192.168.7.5')
  })

  it.each([
    '10.100.0.1/16',
    '10.100.0.0',
    '10.100.0.0/',
    '10.100.0.0/016',
    '10.100.0.0/31',
    '10.0.0.0/7',
    '10.0.0.0/16/8',
    'x/16',
    '10.0.0.0/-1',
  ])('is not %j', (text) => {
    expect(parseNetwork(text)).toBeUndefined()
  })
})

describe('the lowest free address', () => {
  it('is the second of an empty network', () => {
    expect(lowestFreeAddress(parseNetwork('10.100.0.0/16')!, new Set())).toBe('10.100.0.2')
  })

  it('fills a gap first and carries over the octet', () => {
    const network = parseNetwork('10.100.0.0/16')!
    const taken = new Set(Array.from({ length: 300 }, (_, i) => formatIpv4(network.first + 2 + i)))
    expect(lowestFreeAddress(network, taken)).toBe('10.100.1.46')
    taken.delete('10.100.0.77')
    expect(lowestFreeAddress(network, taken)).toBe('10.100.0.77')
  })

  it('is never the network, the hub, the broadcast address or a taken one, and no other is skipped', () => {
    fc.assert(
      fc.property(anyNetwork, fc.integer({ min: 0, max: 40 }), fc.array(fc.nat(45)), (network, run, holes) => {
        const taken = new Set(Array.from({ length: run }, (_, i) => formatIpv4(network.first + 2 + i)))
        for (const hole of holes) taken.delete(formatIpv4(network.first + 2 + hole))
        const free = lowestFreeAddress(network, taken)
        const candidates = Array.from(
          { length: Math.min(run + 1, network.last - network.first - 2) },
          (_, i) => network.first + 2 + i,
        )
        expect(free).toBe(candidates.map(formatIpv4).find((address) => !taken.has(address)))
        expect(free === undefined || isGatewayAddress(network, free)).toBe(true)
      }),
    )
  })

  it('is undefined once the pool is used up', () => {
    const network = parseNetwork('10.9.9.0/29')!
    const taken = new Set<string>()
    for (let count = 0; count < 5; count++) taken.add(lowestFreeAddress(network, taken)!)
    expect([...taken]).toEqual(['10.9.9.2', '10.9.9.3', '10.9.9.4', '10.9.9.5', '10.9.9.6'])
    expect(lowestFreeAddress(network, taken)).toBeUndefined()
  })
})

it('a gateway never gets an end of the network, the hub’s address or an address outside', () => {
  const network = parseNetwork('10.100.0.0/16')!
  for (const address of ['10.100.0.0', '10.100.0.1', '10.100.255.255', '10.99.255.255', '10.101.0.0', 'x'])
    expect(isGatewayAddress(network, address)).toBe(false)
  expect(isGatewayAddress(network, '10.100.255.254')).toBe(true)
})
