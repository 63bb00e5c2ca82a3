import { BlockList, isIP } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatPrefix, parseAddress, parsePrefix } from './address.ts'
import { createAllowedIps, readInnerPacket } from './allowed-ips.ts'
import { ipv4Packet } from './simulator/packet.ts'

describe('prefixes', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1/32'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.255/25', '10.1.2.128/25'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['FD00:0:0:1:0:0:0:1/64', 'fd00:0:0:1::/64'],
    ['2001:db8::1:0:0:1', '2001:db8::1:0:0:1/128'],
    ['::ffff:10.0.0.1', '::ffff:a00:1/128'],
    ['1:2:3:4:5:6:7:8/127', '1:2:3:4:5:6:7:8/127'],
    ['0:1:2:3:4:5:6:7', '0:1:2:3:4:5:6:7/128'],
  ])('%s is %s', (text, canonical) => {
    const prefix = parsePrefix(text)
    expect(prefix && formatPrefix(prefix)).toBe(canonical)
  })

  test.each([
    '',
    '/',
    '10.0.0.1/',
    '10.0.0.1/33',
    '10.0.0.1/-1',
    '10.0.0.1/08',
    '10.0.0.1/8/8',
    '010.0.0.1',
    '10.1',
    '10.0.0.256',
    '0x0a.0.0.1',
    '1.2.3.4.5',
    ' 10.0.0.1',
    '１０.0.0.1',
    ':',
    ':::',
    '1::2::3',
    '::/129',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8:9',
    '12345::',
    'fe80::1%eth0',
    '::1.2.3',
    '1.2.3.4::',
    '::1.2.3.4:5',
    'g::',
    'example.org',
  ])('%j is not a prefix', (text) => {
    expect(parsePrefix(text)).toBeUndefined()
  })

  test('an address is read exactly where Node reads one', () => {
    const piece = fc.constantFrom('0', '1', 'ff', '255', '256', '01', ':', '::', '.', '1.2.3.4', 'abcd', '%', ' ')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV4(),
          fc.ipV6(),
          fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('')),
        ),
        (text) => {
          const expected = text.includes('%') ? 0 : isIP(text)
          expect({ text, size: parseAddress(text)?.length }).toEqual({
            text,
            size: [undefined, 4, 16][expected === 0 ? 0 : expected / 2 - 1],
          })
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('a formatted prefix is read back the same', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(128), (address, length) => {
        const prefix = parsePrefix(`${address}/${Math.min(length, address.includes(':') ? 128 : 32)}`)!
        expect(parsePrefix(formatPrefix(prefix))).toEqual(prefix)
      }),
    )
  })
})

describe('the table', () => {
  const lookup = (table: ReturnType<typeof createAllowedIps<string>>, address: string) => {
    const bytes = parseAddress(address)!
    return table.lookup(Uint8Array.from([9, ...bytes]), 1, bytes.length === 4 ? 4 : 16)
  }
  const insert = (table: ReturnType<typeof createAllowedIps<string>>, text: string, owner: string) =>
    table.insert(parsePrefix(text)!, owner)

  test('the longest prefix wins, in each family by itself', () => {
    const table = createAllowedIps<string>()
    for (const [text, owner] of [
      ['0.0.0.0/0', 'any'],
      ['10.0.0.0/8', 'ten'],
      ['10.1.0.0/16', 'site'],
      ['10.1.2.3/32', 'host'],
      ['fd00::/8', 'six'],
      ['fd00::7/128', 'seven'],
    ] as const) {
      insert(table, text, owner)
    }
    const found = ['10.1.2.3', '10.1.2.4', '10.2.0.0', '11.0.0.0', 'fd00::7', 'fd00::8', 'fe80::1'].map((address) =>
      lookup(table, address),
    )
    expect(found).toEqual(['host', 'site', 'ten', 'any', 'seven', 'six', undefined])
  })

  test('a prefix given to another owner moves, and leaves nothing behind', () => {
    const table = createAllowedIps<string>()
    insert(table, '10.0.0.2/32', 'first')
    insert(table, '10.0.0.3/32', 'first')
    insert(table, '10.0.0.2/32', 'second')
    expect(table.prefixesOf('first')).toEqual(['10.0.0.3/32'])
    table.removeOwner('first')
    expect(lookup(table, '10.0.0.2')).toBe('second')
    expect(lookup(table, '10.0.0.3')).toBeUndefined()
  })

  test('agrees with net.BlockList on who owns what', () => {
    const prefix = fc.tuple(
      fc.constantFrom('10.0.0.', '10.0.1.', '11.0.0.').chain((start) => fc.nat(255).map((end) => start + end)),
      fc.integer({ min: 0, max: 32 }),
    )
    fc.assert(
      fc.property(
        fc.array(prefix, { maxLength: 12 }),
        fc.constantFrom('10.0.0.7', '10.0.1.200', '11.0.0.1', '200.1.1.1'),
        (prefixes, address) => {
          const table = createAllowedIps<number>()
          for (const [base, length] of prefixes) table.insert(parsePrefix(`${base}/${length}`)!, length)
          const covering = prefixes.filter(([base, length]) => {
            const list = new BlockList()
            list.addSubnet(base, length, 'ipv4')
            return list.check(address, 'ipv4')
          })
          const expected = covering.length === 0 ? undefined : Math.max(...covering.map(([, length]) => length))
          expect(table.lookup(parseAddress(address)!, 0, 4)).toBe(expected)
        },
      ),
    )
  })
})

describe('inner packets', () => {
  test('IPv4 and IPv6 are measured by their own length, which padding follows', () => {
    const padded = new Uint8Array(64)
    padded.set(ipv4Packet('10.0.0.1', '10.0.0.2', 50))
    expect(readInnerPacket(padded)).toMatchObject({ length: 50, addressSize: 4 })
    const six = new Uint8Array(64)
    six.set([0x60, 0, 0, 0, 0, 10])
    expect(readInnerPacket(six)).toMatchObject({ length: 50, addressSize: 16 })
  })

  test.each([
    ['nothing', []],
    ['a version byte alone', [0x45]],
    ['another version', [0x55, ...Array.from({ length: 60 }, () => 0)]],
    ['IPv4 longer than what came', [0x45, 0, 0, 62, ...Array.from({ length: 57 }, () => 0)]],
    ['IPv4 shorter than its header', [0x45, 0, 0, 19, ...Array.from({ length: 57 }, () => 0)]],
    ['IPv6 longer than what came', [0x60, 0, 0, 0, 0, 22, ...Array.from({ length: 55 }, () => 0)]],
  ])('%s is not a packet', (_, bytes) => {
    expect(readInnerPacket(Uint8Array.from(bytes))).toBeUndefined()
  })

  test('no bytes make the reader throw or point outside', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const inner = readInnerPacket(bytes)
        if (inner === undefined) return
        expect(inner.length).toBeLessThanOrEqual(bytes.length)
        expect(inner.destinationOffset + inner.addressSize).toBeLessThanOrEqual(inner.length)
      }),
    )
  })
})
