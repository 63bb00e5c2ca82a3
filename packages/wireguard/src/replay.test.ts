import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { REPLAY_WINDOW, acceptCounter, createReplayWindow, isFresh } from './replay.ts'

const T = REPLAY_WINDOW + 1
const FAR = 2 ** 40

/** Counters in the order they arrive, each with whether it is accepted. */
const sequences: Record<string, [number, boolean][]> = {
  'each counter once': [
    [0, true],
    [1, true],
    [1, false],
    [9, true],
    [8, true],
    [7, true],
    [7, false],
    [0, false],
  ],
  'late within the window': [
    [REPLAY_WINDOW - 1, true],
    [0, true],
    [0, false],
  ],
  'one past the window': [
    [REPLAY_WINDOW, true],
    [0, false],
    [1, true],
  ],
  'the edge moves with the greatest': [
    [T, true],
    [T - 1, true],
    [T, false],
    [2, true],
    [2, false],
    [1, false],
    [T + 1, true],
    [3, true],
    [2, false],
  ],
  'a jump of many rings forgets the old and takes the new': [
    [5, true],
    [FAR, true],
    [5, false],
    [FAR - REPLAY_WINDOW + 1, true],
    [FAR - REPLAY_WINDOW, false],
    [FAR - 1, true],
    [FAR, false],
  ],
  'a jump of exactly one ring clears every word': [
    ...Array.from({ length: 256 }, (_, i): [number, boolean] => [i * 32 + 31, true]),
    [8191 + 8192, true],
    [8192 + 31, false],
    [8192 + 63, true],
    [8192 + 8191 - 32, true],
  ],
  'what came at the beginning is known when the ring grows behind it': [
    [511, true],
    [3, true],
    [512, true],
    [511, false],
    [3, false],
    [510, true],
    [8191, true],
    [512, false],
    [511, false],
    [500, true],
    [500, false],
  ],
  'counters past 2^32': [
    [2 ** 32 - 1, true],
    [2 ** 32, true],
    [2 ** 32 + 40, true],
    [2 ** 32 - 1, false],
    [2 ** 32 + 39, true],
    [2 ** 32 + 40, false],
  ],
}

test.each(Object.entries(sequences))('%s', (_, sequence) => {
  const window = createReplayWindow()
  for (const [counter, accepted] of sequence) {
    expect([counter, isFresh(window, counter)]).toEqual([counter, accepted])
    if (accepted) acceptCounter(window, counter)
  }
})

test('agrees with a set of everything seen, whatever comes in whatever order', () => {
  const step = fc.oneof(
    fc.integer({ min: -9000, max: 100 }),
    fc.integer({ min: -40, max: 40 }),
    fc.integer({ min: 0, max: 20_000 }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const window = createReplayWindow()
      const seen = new Set<number>()
      let greatest = 0
      for (const offset of steps) {
        const counter = Math.max(greatest + offset, 0)
        const expected = !seen.has(counter) && greatest - counter < REPLAY_WINDOW
        expect(isFresh(window, counter)).toBe(expected)
        if (!expected) continue
        acceptCounter(window, counter)
        seen.add(counter)
        greatest = Math.max(greatest, counter)
      }
    }),
  )
})

test('a window of few messages lies inside the heap', () => {
  const window = createReplayWindow()
  for (let counter = 0; counter < 512; counter++) acceptCounter(window, counter)
  expect(window.words.byteLength).toBe(64)
})
