import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { PacketAllocator } from './packet-allocator.ts'

it('uses the memory of packets again when told to, and not before', () => {
  const step = fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.constant('reuse' as const))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const allocator = new PacketAllocator()
      let recent: Uint8Array[] = []
      for (const asked of steps) {
        if (asked === 'reuse') {
          allocator.reuse()
          recent = []
        } else recent.push(allocator.allocate(asked))
        recent.forEach((packet, index) => packet.fill(index))
        recent.forEach((packet, index) => expect(packet.every((byte) => byte === index)).toBe(true))
      }
    }),
    { numRuns: 30 },
  )
  const allocator = new PacketAllocator()
  const turn = () => {
    const slabs = Array.from({ length: 100 }, () => allocator.allocate(1_420).buffer)
    allocator.reuse()
    return new Set(slabs)
  }
  const first = turn()
  expect(first.isSupersetOf(turn())).toBe(true)
})

it('gives packets of the asked length that share no byte', () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 })
  fc.assert(
    fc.property(lengths, (asked) => {
      const allocator = new PacketAllocator((length) => new Uint8Array(length).fill(0xa5))
      const packets = asked.map((length) => allocator.allocate(length))
      packets.forEach((packet, index) => packet.fill(index))
      expect(packets.map((packet) => packet.length)).toEqual(asked)
      packets.forEach((packet, index) => expect(packet.every((byte) => byte === index)).toBe(true))
    }),
    { numRuns: 30 },
  )
})
