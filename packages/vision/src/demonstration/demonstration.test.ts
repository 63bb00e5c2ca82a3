import { describe, expect, test } from 'vitest'
import { cropFor, lookAt, pack, unpack } from './eye.ts'
import { accuracyOf, drawExamples, HELD_OUT, trainDemonstrationEye } from './training.ts'
import { WEIGHTS } from './weights.ts'
import { createPlane } from '../image.ts'
import { useLastCompiler } from '../../../../test/harness/last-compiler.ts'

useLastCompiler()

/** Training takes seconds on a free core, and shares two with everything else. */
const TRAINING_MS = 300_000

describe('the demonstration eye', () => {
  test('training again gives the committed weights', { timeout: TRAINING_MS }, () => {
    expect(pack(trainDemonstrationEye())).toBe(WEIGHTS)
  })

  test('tells crops apart that it was not trained on', { timeout: TRAINING_MS }, () => {
    const heldOut = drawExamples(HELD_OUT)
    const accuracy = accuracyOf(unpack(WEIGHTS), heldOut)
    expect(heldOut.labels.length).toBeGreaterThan(400)
    expect(accuracy).toBeGreaterThan(0.95)
  })
})

test('packed weights are those that were trained, to a 127th of the largest of their class', () => {
  const classifier = unpack(WEIGHTS)
  const again = unpack(pack(classifier))
  for (let k = 0; k < classifier.classes; k++) {
    const part = (weights: Float32Array) => weights.subarray(k * classifier.features, (k + 1) * classifier.features)
    const largest = part(classifier.weights).reduce((most, weight) => Math.max(most, Math.abs(weight)), 0)
    for (const [i, weight] of part(again.weights).entries())
      expect(Math.abs(weight - part(classifier.weights)[i]!)).toBeLessThanOrEqual(largest / 127)
  }
})

test('a crop is a square around the box with room on each side, beyond the edge of the picture too', () => {
  const plane = createPlane(100, 50)
  for (let y = 20; y < 30; y++) plane.data.fill(255, y * 100 + 40, y * 100 + 60)
  const crop = cropFor(plane, { x: 0.4, y: 0.4, width: 0.2, height: 0.2 })
  const at = (x: number, y: number) => crop.data[y * crop.stride + x]!
  expect(at(32, 32)).toBe(255)
  expect(at(32, 10)).toBe(0)
  expect(at(2, 32)).toBe(0)
  expect(at(10, 32)).toBe(255)
  expect(lookAt(plane, { x: 0.9, y: 0.9, width: 0.3, height: 0.3 }).score).toBeGreaterThan(0)
})
