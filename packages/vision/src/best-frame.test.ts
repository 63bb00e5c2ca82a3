import { expect, test } from 'vitest'
import { frameQuality, isBetterFrame } from './best-frame.ts'

const middle = { x: 0.4, y: 0.4, width: 0.2, height: 0.2 }

test('a surer, larger or whole object is better', () => {
  const quality = frameQuality(middle, 0.8)
  expect(frameQuality(middle, 0.9)).toBeGreaterThan(quality)
  expect(frameQuality({ ...middle, width: 0.3 }, 0.8)).toBeGreaterThan(quality)
  expect(frameQuality({ ...middle, x: 0 }, 0.8)).toBeLessThan(quality)
  expect(frameQuality({ ...middle, y: 0.8 }, 0.8)).toBeLessThan(quality)
})

test('a slightly better picture replaces nothing; the first always counts', () => {
  expect(isBetterFrame(0, undefined)).toBe(true)
  expect(isBetterFrame(0.52, 0.5)).toBe(false)
  expect(isBetterFrame(0.6, 0.5)).toBe(true)
})
