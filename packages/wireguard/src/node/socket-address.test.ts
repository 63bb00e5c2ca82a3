import { networkInterfaces } from 'node:os'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readSocketAddress, socketAddress } from './socket-address.ts'

const viewOf = (name: Uint8Array = new Uint8Array()) => new DataView(name.buffer)
const ipv6 = (address: string, zone = 0) => {
  const view = viewOf(socketAddress({ address, port: 7 }, 6))
  view.setUint32(24, zone, true)
  return view
}

test('an IPv4 endpoint is read as it was written, on a socket of either family', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.nat(65_535), fc.constantFrom(4 as const, 6 as const), (address, port, family) => {
      expect(readSocketAddress(viewOf(socketAddress({ address, port }, family)), 0)).toEqual({ address, port })
    }),
  )
})

test.each(['::', '::1', 'fd00::1:2', '2001:db8:0:1:1:1:1:1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fe80::1'])(
  '%s is read as it was written, wherever it lies',
  (address) => {
    const memory = new Uint8Array(64)
    memory.set(socketAddress({ address, port: 51_820 }, 6) ?? [], 32)
    expect(readSocketAddress(viewOf(memory), 32)).toEqual({ address, port: 51_820 })
  },
)

test('a zone is the name of its interface, or its number when no interface has it', () => {
  expect(readSocketAddress(ipv6('fe80::1', 0x7fff_fff0), 0).address).toBe('fe80::1%2147483632')
  const zones = Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses.flatMap((address) => (address.family === 'IPv6' && address.scopeid ? [{ name, ...address }] : [])),
  )
  for (const { name, scopeid } of zones)
    expect(readSocketAddress(ipv6('fe80::2', scopeid), 0)).toEqual({ address: `fe80::2%${name}`, port: 7 })
})
