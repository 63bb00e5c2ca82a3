import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Reassembly } from './reassembly.ts'
import { advance } from './sequence.ts'

const START = 0xffffff00

describe('reassembly', () => {
  it('returns every byte once and in order, for all cuts, overlaps and orders', () => {
    const cut = fc.tuple(fc.nat(2_000), fc.integer({ min: 1, max: 900 }))
    fc.assert(
      fc.property(fc.array(cut, { maxLength: 60 }), fc.integer({ min: 1, max: 3_000 }), (cuts, readBytes) => {
        const stream = Uint8Array.from({ length: 3_000 }, (_, i) => (i * 7 + (i >> 8)) & 255)
        const reassembly = new Reassembly(START)
        const seen = new Set<number>()
        const read: number[] = []
        for (const [from, length] of cuts) {
          reassembly.insert(advance(START, from), stream.slice(from, from + length))
          for (let i = from; i < Math.min(from + length, 3_000); i++) seen.add(i)
          if (from % 5 === 0) reassembly.settle()
          if (from % 3 === 0) for (const chunk of reassembly.take(readBytes)) read.push(...chunk)
        }
        for (let chunks = reassembly.take(readBytes); chunks.length > 0; chunks = reassembly.take(readBytes)) {
          for (const chunk of chunks) read.push(...chunk)
        }
        let expected = 0
        while (seen.has(expected)) expected++
        expect(read).toEqual([...stream.subarray(0, expected)])
        expect(reassembly.readyBytes).toBe(0)
        expect(reassembly.bufferedBytes > 0).toBe(reassembly.hasGap)
        expect(reassembly.next).toBe(advance(START, expected))
      }),
    )
  })

  it('keeps tiny payloads together instead of a packet buffer each, a batch at a time', () => {
    const reassembly = new Reassembly(0)
    for (let i = 0; i < 8_000; i++) {
      reassembly.insert(i, Uint8Array.of(i))
      if (i % 7 === 6) reassembly.settle()
    }
    reassembly.settle()
    expect(reassembly.bufferedBytes).toBeLessThan(2 * 8_000)
    const chunks = reassembly.take(1 << 20)
    expect(chunks.length).toBeLessThan(5)
    expect(chunks.flatMap((chunk) => [...chunk])).toEqual(Array.from({ length: 8_000 }, (_, i) => i & 255))
  })

  it.each([
    ['in order', (i: number) => i],
    ['above a gap', (i: number) => 1 + i],
    ['above a gap, with gaps between them', (i: number) => 1 + 2 * i],
    ['above a gap, the last first', (i: number) => 500 - i],
  ])('pins no packet: segments of 520 bytes that came in 16 KiB each, %s', (_how, place) => {
    const reassembly = new Reassembly(0)
    for (let i = 0; i < 500; i++) {
      const buffer = new Uint8Array(16_384)
      reassembly.insert(place(i) * 520, buffer.subarray(100, 620))
      reassembly.settle()
    }
    expect(reassembly.bufferedBytes).toBeLessThan(2 * 500 * 520)
    // Filling the gaps releases everything, into exactly the counted memory.
    for (let i = 0; i <= 1_000; i++) reassembly.insert(i * 520, new Uint8Array(520))
    reassembly.settle()
    const kept = reassembly.bufferedBytes
    const chunks = reassembly.take(1 << 30)
    const buffers = new Set(chunks.map((chunk) => chunk.buffer))
    expect([...buffers].reduce((total, { byteLength }) => total + byteLength, 0)).toBe(kept)
    expect(kept).toBeLessThan(2.2 * 1_001 * 520)
    expect([reassembly.bufferedBytes, reassembly.hasGap]).toEqual([0, false])
  })

  it('limits the number of pieces held out of order', () => {
    const reassembly = new Reassembly(0)
    const results = Array.from({ length: 6_000 }, (_, i) => reassembly.insert(2 * i + 1, Uint8Array.of(1)))
    expect(results.at(-1)).toBe('full')
  })
})
