import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Reassembly } from './reassembly.ts'
import { advance } from './sequence.ts'

const START = 0xffffff00

describe('reassembly', () => {
  it('gives back every byte once and in order, whatever the cuts, overlaps and order', () => {
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
          if (from % 3 === 0) for (const chunk of reassembly.take(readBytes)) read.push(...chunk)
        }
        for (let chunks = reassembly.take(readBytes); chunks.length > 0; chunks = reassembly.take(readBytes)) {
          for (const chunk of chunks) read.push(...chunk)
        }
        let expected = 0
        while (seen.has(expected)) expected++
        expect(read).toEqual([...stream.subarray(0, expected)])
        expect(reassembly.readyBytes).toBe(0)
        expect(reassembly.next).toBe(advance(START, expected))
      }),
    )
  })

  it('keeps tiny payloads together instead of a packet buffer each', () => {
    const reassembly = new Reassembly(0)
    for (let i = 0; i < 8_000; i++) reassembly.insert(i, Uint8Array.of(i))
    const chunks = reassembly.take(1 << 20)
    expect(chunks.length).toBeLessThan(5)
    expect(chunks.flatMap((chunk) => [...chunk])).toEqual(Array.from({ length: 8_000 }, (_, i) => i & 255))
  })

  it('ends the number of pieces held out of order', () => {
    const reassembly = new Reassembly(0)
    const results = Array.from({ length: 6_000 }, (_, i) => reassembly.insert(2 * i + 1, Uint8Array.of(1)))
    expect(results.at(-1)).toBe('full')
  })
})
