import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Slot } from './deadlines.ts'
import { NOT_IN_HEAP, createDeadlines } from './deadlines.ts'

const ITEMS = 20

test('gives each item once, earliest first, whatever was brought forward or removed', () => {
  const step = fc.tuple(fc.constantFrom('bring', 'bring', 'bring', 'remove', 'take'), fc.nat(ITEMS - 1), fc.nat(1000))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const deadlines = createDeadlines<Slot & { id: number }>()
      const items = Array.from({ length: ITEMS }, (_, id) => ({ id, deadlineMs: 0, heapIndex: NOT_IN_HEAP }))
      const mistakes: string[] = []
      const expected = new Map<number, number>()
      const earliest = () => (expected.size === 0 ? undefined : Math.min(...expected.values()))
      for (const [action, id, atMs] of steps) {
        const item = items[id]!
        if (action === 'bring') {
          deadlines.bring(item, atMs)
          expected.set(id, Math.min(atMs, expected.get(id) ?? Infinity))
        } else if (action === 'remove') {
          deadlines.remove(item)
          expected.delete(id)
        } else {
          const dueMs = (earliest() ?? Infinity) <= atMs ? earliest() : undefined
          const taken = deadlines.takeDue(atMs)
          const takenMs = taken === undefined ? undefined : expected.get(taken.id)
          if (takenMs !== dueMs) mistakes.push(`took ${takenMs} instead of ${dueMs}`)
          expected.delete(taken?.id ?? -1)
        }
        if (deadlines.earliest() !== earliest()) mistakes.push(`waits for ${deadlines.earliest()}`)
      }
      expect(mistakes).toEqual([])
    }),
    { numRuns: 500 },
  )
})
