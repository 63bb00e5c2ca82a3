import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldChecksum, sumPseudoHeader, sumWords } from './checksum.ts'
import { parseIcmp } from './icmp.ts'
import { formatAddress, parseAddress, parseIpv4, writeIpv4Header } from './ipv4.ts'
import { ScriptedPeer } from './scripted-peer.ts'
import { encodeSegment, parseSegment } from './segment.ts'
import { createCore } from './simulator.ts'

const bytes = fc.uint8Array({ maxLength: 1600 })
const uint32 = fc.integer({ min: 0, max: 0xffffffff })
const port = fc.integer({ min: 1, max: 65_535 })
const allocate = (length: number): Uint8Array => new Uint8Array(length)
/** Memory with old content, as a stack on Node takes it for packets. */
const allocateUsed = (length: number): Uint8Array => new Uint8Array(length).fill(0xa5)

describe('the checksum', () => {
  it('gives the sum of the example of RFC 1071 §3', () => {
    const example = Uint8Array.of(0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7)
    expect(foldChecksum(sumWords(example, 0, 8))).toBe(~0xddf2 & 0xffff)
  })

  it('gives that of a known IPv4 header', () => {
    const header = Uint8Array.from(Buffer.from('45000073000040004011b861c0a80001c0a800c7', 'hex'))
    expect(foldChecksum(sumWords(header, 0, 20))).toBe(0)
    header.fill(0, 10, 12)
    expect(foldChecksum(sumWords(header, 0, 20))).toBe(0xb861)
  })

  it('is that of the words one by one, wherever the bytes are in memory', () => {
    const memory = fc.record({ at: fc.nat(9), data: fc.uint8Array({ maxLength: 300 }), sum: fc.nat(0xffff) })
    fc.assert(
      fc.property(memory, ({ at, data, sum }) => {
        const there = new Uint8Array(at + data.length).subarray(at)
        there.set(data)
        let expected = sum
        for (let i = 0; i < data.length; i += 2) expected += data[i]! * 256 + (data[i + 1] ?? 0)
        while (expected > 0xffff) expected = (expected % 65_536) + Math.floor(expected / 65_536)
        expect(foldChecksum(sumWords(there, 0, there.length, sum))).toBe(0xffff - expected)
      }),
      { examples: [[{ at: 4, data: new Uint8Array(1_400).fill(0xff), sum: 0xffff }]] },
    )
  })

  it('does not depend on where the bytes are cut at even offsets, and pads an odd end', () => {
    fc.assert(
      fc.property(bytes, fc.nat(800), (data, half) => {
        const cut = Math.min(half * 2, data.length & ~1)
        const padded = Uint8Array.from([...data, ...(data.length % 2 === 1 ? [0] : [])])
        const whole = foldChecksum(sumWords(data, 0, data.length))
        expect(foldChecksum(sumWords(data, cut, data.length, sumWords(data, 0, cut)))).toBe(whole)
        expect(foldChecksum(sumWords(padded, 0, padded.length))).toBe(whole)
      }),
    )
  })
})

describe('addresses', () => {
  it('are read strictly and written back', () => {
    fc.assert(
      fc.property(uint32, (address) => {
        expect(parseAddress(formatAddress(address))).toBe(address)
      }),
    )
    for (const text of [
      '010.0.0.1',
      '10.1',
      '10.0.0.256',
      ' 10.0.0.1',
      '10.0.0.1.',
      '0x0a.0.0.1',
      '',
      '::1',
      '1.2.3.4\n',
    ]) {
      expect(parseAddress(text)).toBeUndefined()
    }
  })
})

describe('segments', () => {
  it('are byte for byte what another program made of the same fields, their checksum over the addresses too', () => {
    const packet = encodeSegment(
      {
        source: parseAddress('192.0.2.1')!,
        destination: parseAddress('198.51.100.9')!,
        sourcePort: 1000,
        destinationPort: 2000,
        sequence: 0x01020304,
        acknowledgment: 0x0a0b0c0d,
        flags: 0x18,
        window: 4096,
        payload: new TextEncoder().encode('hello'),
      },
      allocate,
    )
    expect(Buffer.from(packet.subarray(20)).toString('hex')).toBe('03e807d0010203040a0b0c0d5018100049e1000068656c6c6f')
  })

  it('come out as they went in, and contain nothing else of the memory they are written to', () => {
    const range = fc.record({ start: uint32, end: uint32 })
    const segment = fc.record({
      source: uint32,
      destination: uint32,
      sourcePort: port,
      destinationPort: port,
      sequence: uint32,
      acknowledgment: uint32,
      flags: fc.nat(0x3f),
      window: fc.nat(0xffff),
      mss: fc.option(fc.nat(0xffff), { nil: undefined }),
      windowScale: fc.option(fc.nat(14), { nil: undefined }),
      sackPermitted: fc.boolean(),
      payload: bytes,
    })
    // What fits in the option space: the others take 12 bytes.
    const withTimestamp = fc.record({
      timestamp: uint32,
      timestampEcho: uint32,
      sack: fc.array(range, { maxLength: 1 }),
    })
    const withoutTimestamp = fc.record({
      timestamp: fc.constant(undefined),
      timestampEcho: fc.constant(0),
      sack: fc.array(range, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(segment, fc.oneof(withTimestamp, withoutTimestamp), (fields, options) => {
        const given = { ...fields, ...options }
        const packet = encodeSegment(given, allocateUsed)
        expect(packet).toEqual(encodeSegment(given, allocate))
        const ip = parseIpv4(packet)
        if (typeof ip === 'string') throw new Error(ip)
        const { source, destination, ...expected } = given
        expect([ip.source, ip.destination]).toEqual([source, destination])
        expect(parseSegment(packet, ip)).toEqual(expected)
      }),
    )
  })

  it('from or to port 0, or whose header or options do not end inside them, are refused', () => {
    const verdict = (change: (segment: Uint8Array) => void): string => {
      const fields = { sequence: 0, acknowledgment: 0, flags: 2, window: 0, mss: 1380, windowScale: 7 }
      const packet = encodeSegment(
        { source: 1, destination: 2, sourcePort: 3, destinationPort: 4, ...fields },
        allocate,
      )
      change(packet.subarray(20))
      packet.fill(0, 36, 38)
      const sum = foldChecksum(sumWords(packet, 20, packet.length, sumPseudoHeader(1, 2, 6, packet.length - 20)))
      packet.set([sum >> 8, sum & 255], 36)
      const ip = parseIpv4(packet)
      const segment = typeof ip === 'string' ? ip : parseSegment(packet, ip)
      return typeof segment === 'string' ? segment : `mss ${segment.mss}`
    }
    expect(verdict(() => undefined)).toBe('mss 1380')
    expect(verdict((segment) => segment.fill(0, 0, 2))).toBe('bad-segment')
    expect(verdict((segment) => segment.fill(0, 2, 4))).toBe('bad-segment')
    expect(verdict((segment) => void (segment[12] = 0x40))).toBe('bad-segment')
    expect(verdict((segment) => void (segment[12] = 0xf0))).toBe('bad-segment')
    // An option of no length, and one longer than what is left; one that nobody knows is skipped.
    expect(verdict((segment) => void (segment[21] = 0))).toBe('bad-segment')
    expect(verdict((segment) => void (segment[21] = 9))).toBe('bad-segment')
    expect(verdict((segment) => void (segment[20] = 99))).toBe('mss undefined')
  })

  it('with one flipped bit are refused', () => {
    const packet = encodeSegment(
      {
        source: 1,
        destination: 2,
        sourcePort: 3,
        destinationPort: 4,
        sequence: 5,
        acknowledgment: 6,
        flags: 16,
        window: 7,
        payload: new Uint8Array(100),
      },
      allocate,
    )
    fc.assert(
      fc.property(fc.nat(packet.length * 8 - 1), (bit) => {
        const broken = packet.slice()
        broken[bit >> 3]! ^= 1 << (bit & 7)
        const ip = parseIpv4(broken)
        expect(typeof ip === 'string' ? ip : parseSegment(broken, ip)).toBeTypeOf('string')
      }),
    )
  })
})

describe('hostile bytes', () => {
  it('throw in no parser', () => {
    fc.assert(
      fc.property(bytes, fc.nat(80), (packet, start) => {
        parseIpv4(packet)
        parseIcmp(packet, Math.min(start, packet.length), packet.length)
        const payloadStart = Math.min(start, packet.length)
        expect(
          parseSegment(packet, { source: 1, destination: 2, payloadStart, payloadEnd: packet.length }),
        ).toBeDefined()
      }),
      { numRuns: 2_000 },
    )
  })

  it('in a packet addressed to us do not throw, and are dropped or answered', () => {
    const stack = createCore(0x0a640001)
    stack.listen(80)
    fc.assert(
      fc.property(bytes, fc.constantFrom(1, 6, 17), (body, protocol) => {
        const packet = new Uint8Array(20 + body.length)
        writeIpv4Header(packet, 0x0a640002, 0x0a640001, protocol)
        packet.set(body, 20)
        // With a right checksum, so that what lies behind it is reached.
        if (protocol === 1 && body.length >= 4) {
          packet.fill(0, 22, 24)
          const sum = foldChecksum(sumWords(packet, 20, packet.length))
          packet.set([sum >> 8, sum & 255], 22)
        }
        const outputs = [...stack.receive(packet, 1), ...stack.tick(1)]
        expect(outputs.length).toBeGreaterThan(0)
      }),
      { numRuns: 2_000 },
    )
  })

  it('as segments of an open connection neither throw nor hold more than the buffers allow', () => {
    const flags = fc
      .array(fc.constantFrom('SYN', 'ACK', 'ACK', 'ACK', 'FIN', 'RST'), { maxLength: 3 })
      .map((names) => names.join(','))
    const near = fc.oneof(fc.integer({ min: -5, max: 5_000 }), fc.integer({ min: -0x80000000, max: 0x7fffffff }))
    const saying = fc.record({
      seq: near,
      ack: near,
      data: fc.uint8Array({ maxLength: 1_400 }),
      window: fc.nat(0xffff),
      sack: fc.array(fc.tuple(near, near), { maxLength: 4 }),
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(flags, saying, fc.nat(500)), { maxLength: 40 }), (steps) => {
        const peer = ScriptedPeer.established()
        peer.writes(new Uint8Array(50_000))
        for (const [names, said, pause] of steps) {
          peer.says(names, said)
          peer.after(pause)
          expect(peer.connection!.reassembly.readyBytes).toBeLessThanOrEqual(1 << 20)
          expect(peer.connection!.queue.pipe).toBeGreaterThanOrEqual(0)
        }
      }),
      { numRuns: 300 },
    )
  })
})
