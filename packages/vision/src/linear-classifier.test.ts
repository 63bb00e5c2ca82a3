import { describe, expect, test } from 'vitest'
import { minimise } from './lbfgs.ts'
import { classify, trainClassifier } from './linear-classifier.ts'
import { createRandom } from './rendered/index.ts'

describe('L-BFGS', () => {
  test('finds the minimum of a quadratic function of many scales', () => {
    const target = Array.from({ length: 20 }, (_, i) => i - 10)
    const found = minimise((point, gradient) => {
      let value = 0
      for (let i = 0; i < point.length; i++) {
        const scale = 1 + i * i
        value += (scale / 2) * (point[i]! - target[i]!) ** 2
        gradient[i] = scale * (point[i]! - target[i]!)
      }
      return value
    }, new Float64Array(20))
    for (const [i, at] of found.entries()) expect(at).toBeCloseTo(target[i]!, 4)
  })

  test("finds the end of Rosenbrock's valley, and leaves the start as it was", () => {
    const start = Float64Array.of(-1.2, 1)
    const [x, y] = minimise(
      (point, gradient) => {
        const [a, b] = [point[0]!, point[1]!]
        gradient[0] = -2 * (1 - a) - 400 * a * (b - a * a)
        gradient[1] = 200 * (b - a * a)
        return (1 - a) ** 2 + 100 * (b - a * a) ** 2
      },
      start,
      { iterations: 200, tolerance: 1e-8 },
    )
    expect(x).toBeCloseTo(1, 5)
    expect(y).toBeCloseTo(1, 5)
    expect([...start]).toEqual([-1.2, 1])
  })
})

describe('logistic regression', () => {
  /** Labels drawn with a known probability: sigmoid of 2a - b + 0.5. */
  function draw(count: number, seed: number) {
    const random = createRandom(seed)
    const rows = new Float32Array(count * 2)
    const labels = new Uint8Array(count)
    for (let n = 0; n < count; n++) {
      const [a, b] = [random.normal(), random.normal()]
      rows.set([a, b], n * 2)
      labels[n] = random.next() < 1 / (1 + Math.exp(-(2 * a - b + 0.5))) ? 1 : 0
    }
    return { rows, labels, features: 2, classes: 2 }
  }

  test('recovers the probabilities that labels were drawn with', () => {
    const classifier = trainClassifier(draw(20_000, 3), { l2: 1e-6 })
    for (const [a, b] of [
      [0, 0],
      [1, 0],
      [-1, 1],
      [0.5, 2],
    ] as const) {
      const expected = 1 / (1 + Math.exp(-(2 * a - b + 0.5)))
      expect(Math.abs(classify(classifier, Float32Array.of(a, b))[1]! - expected)).toBeLessThan(0.03)
    }
  })

  test('more L2 gives smaller weights', () => {
    const sizeOf = (l2: number) =>
      trainClassifier(draw(500, 4), { l2 }).weights.reduce((sum, weight) => sum + weight ** 2, 0)
    expect(sizeOf(1)).toBeLessThan(sizeOf(0.01))
    expect(sizeOf(0.01)).toBeLessThan(sizeOf(0.0001))
  })

  test('three classes around three corners, probabilities that sum to 1', () => {
    const corners = [
      [0, 0],
      [4, 0],
      [0, 4],
    ] as const
    const random = createRandom(5)
    const rows: number[] = []
    const labels: number[] = []
    for (let n = 0; n < 300; n++) {
      const [x, y] = corners[n % 3]!
      rows.push(x + random.normal() * 0.5, y + random.normal() * 0.5)
      labels.push(n % 3)
    }
    const classifier = trainClassifier({
      rows: Float32Array.from(rows),
      labels: Uint8Array.from(labels),
      features: 2,
      classes: 3,
    })
    for (const [label, [x, y]] of corners.entries()) {
      const probabilities = classify(classifier, Float32Array.of(x, y))
      expect(probabilities.reduce((a, b) => a + b)).toBeCloseTo(1)
      expect(probabilities[label]).toBeGreaterThan(0.9)
    }
  })

  test('an example that counts three times is as three of it', () => {
    const rows = Float32Array.of(-1, 1, 1.5, -0.5)
    const labels = Uint8Array.of(0, 1, 1, 1)
    const weighted = trainClassifier({ rows, labels, features: 1, classes: 2, importance: Float32Array.of(3, 1, 1, 1) })
    const repeated = trainClassifier({
      rows: Float32Array.of(-1, -1, -1, 1, 1.5, -0.5),
      labels: Uint8Array.of(0, 0, 0, 1, 1, 1),
      features: 1,
      classes: 2,
    })
    for (const [i, weight] of weighted.weights.entries()) expect(weight).toBeCloseTo(repeated.weights[i]!, 3)
  })

  test('examples that do not fit together are refused', () => {
    const wrong = { rows: new Float32Array(3), labels: Uint8Array.of(0, 1), features: 2, classes: 2 }
    expect(() => trainClassifier(wrong)).toThrow(RangeError)
    expect(() => trainClassifier({ ...wrong, rows: new Float32Array(4), labels: Uint8Array.of(0, 2) })).toThrow(
      RangeError,
    )
    expect(() => trainClassifier({ ...wrong, rows: new Float32Array(0), labels: new Uint8Array(0) })).toThrow(
      RangeError,
    )
  })
})
