import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DeadlineHeap, type HeapItem } from './deadline-heap.ts'

const step = fc.oneof(
  fc.record({ kind: fc.constant('bring' as const), item: fc.nat(19), at: fc.nat(100) }),
  fc.record({ kind: fc.constant('remove' as const), item: fc.nat(19) }),
  fc.record({ kind: fc.constant('take' as const), at: fc.nat(100) }),
)

test('gives what a sorted list would give', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new DeadlineHeap<HeapItem>()
      const items = Array.from({ length: 20 }, (): HeapItem => ({ waitsUntil: Infinity, heapIndex: 0 }))
      const waiting = new Map<HeapItem, number>()
      const given: unknown[] = []
      const wanted: unknown[] = []
      for (const taken of steps) {
        if (taken.kind === 'take') {
          const earliest = Math.min(Infinity, ...waiting.values())
          given.push(heap.earliest)
          const due = heap.takeDue(taken.at)
          given.push(due && waiting.get(due))
          wanted.push(earliest, earliest <= taken.at ? earliest : undefined)
          if (due) waiting.delete(due)
          continue
        }
        const item = items[taken.item]!
        if (taken.kind === 'remove') {
          heap.remove(item)
          waiting.delete(item)
        } else {
          heap.bring(item, taken.at)
          waiting.set(item, Math.min(taken.at, waiting.get(item) ?? Infinity))
        }
      }
      expect(given).toEqual(wanted)
    }),
  )
})
