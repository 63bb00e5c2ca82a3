import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { PacketAllocator } from './packet-allocator.ts'

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
