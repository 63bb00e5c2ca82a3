import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSlab } from './slab.ts'

test('pieces do not overlap before they may be reused, and what is to be kept stays as it was', () => {
  const step = fc.oneof(
    fc.record({ cut: fc.integer({ min: 0, max: 40 }) }),
    fc.constantFrom('reuse' as const, 'keep' as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const slab = createSlab(64)
      const kept: { piece: Uint8Array; mark: number }[] = []
      let recent: { piece: Uint8Array; mark: number }[] = []
      let mark = 0
      for (const now of steps) {
        if (now === 'reuse') {
          slab.reuse()
          recent = []
        } else if (now === 'keep') {
          slab.keep()
          kept.push(...recent)
          recent = []
        } else {
          const piece = slab.cut(now.cut)
          mark = (mark + 1) % 256
          piece.fill(mark)
          recent.push({ piece, mark })
        }
        for (const { piece, mark: own } of [...kept, ...recent]) expect(piece.every((byte) => byte === own)).toBe(true)
      }
    }),
  )
})

test('memory is used again, block after block', () => {
  const slab = createSlab(64)
  const turn = (): ArrayBufferLike[] => {
    const buffers = Array.from({ length: 8 }, () => slab.cut(16).buffer)
    slab.reuse()
    return buffers
  }
  const first = new Set(turn())
  expect(turn().every((buffer) => first.has(buffer))).toBe(true)
})
