import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBackoff, createPause } from './backoff.ts'

test('pauses grow to their limit, are never shorter than half the first, and start again after a success', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (draw) => {
      const backoff = createBackoff({ firstMs: 500, maxMs: 30_000 }, () => draw)
      const pauses = Array.from({ length: 20 }, () => backoff.next())
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(250)
      expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000)
      expect(pauses.at(-1)).toBeGreaterThanOrEqual(15_000)
      backoff.reset()
      expect(backoff.next()).toBeLessThanOrEqual(500)
    }),
  )
})

test('a pause is at least as long as the hub asked for, and random, so that a fleet spreads out', () => {
  const pause = (draw: number) => createBackoff({ firstMs: 500, maxMs: 30_000 }, () => draw).next(4_000)
  expect([pause(0), pause(1)]).toEqual([4_000, 6_000])
  expect(createBackoff({ firstMs: 500, maxMs: 30_000 }, () => 1).next(0)).toBe(500)
})

test('a wake ends a pause, even a wake before it; so does the abort signal', { timeout: 2_000 }, async () => {
  const stopping = new AbortController()
  const rest = createPause(stopping.signal)
  const woken = rest.pause(60_000)
  rest.wake()
  await expect(woken).resolves.toBeUndefined()
  rest.wake()
  await expect(rest.pause(60_000)).resolves.toBeUndefined()
  const stopped = rest.pause(60_000)
  stopping.abort()
  await expect(stopped).resolves.toBeUndefined()
})
