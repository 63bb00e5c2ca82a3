/**
 * Turns a classifier's logits into probabilities: a sigmoid fitted to the reviews (Platt 1999), by Newton's method with
 * backtracking and without the numerical errors of the original (Lin, Lin and Weng 2007, their algorithm 1).
 */

/** `probabilityOf` gives `1 / (1 + exp(slope * logit + offset))`; a good classifier has a negative slope. */
export type Calibration = { readonly slope: number; readonly offset: number }

export type Judged = { readonly logit: number; readonly isRight: boolean }

const ITERATIONS = 100
const LEAST_STEP = 1e-10
const SIGMA = 1e-12
const TOLERANCE = 1e-5
const SUFFICIENT_DECREASE = 1e-4

/** Needs at least one judgement; its targets are those of Platt, so no probability is exactly 0 or 1. */
export function calibrate(judged: readonly Judged[]): Calibration {
  if (judged.length === 0) throw new RangeError('there is nothing to calibrate on')
  const right = judged.filter(({ isRight }) => isRight).length
  const wrong = judged.length - right
  const high = (right + 1) / (right + 2)
  const low = 1 / (wrong + 2)
  const points = judged.map(({ logit, isRight }) => ({ logit, target: isRight ? high : low }))
  let slope = 0
  let offset = Math.log((wrong + 1) / (right + 1))
  let value = lossOf(points, slope, offset)
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    let [h11, h22, h21, g1, g2] = [SIGMA, SIGMA, 0, 0, 0]
    for (const { logit, target } of points) {
      const p = sigmoid(slope * logit + offset)
      const curvature = p * (1 - p)
      h11 += logit * logit * curvature
      h22 += curvature
      h21 += logit * curvature
      g1 += logit * (target - p)
      g2 += target - p
    }
    if (Math.abs(g1) < TOLERANCE && Math.abs(g2) < TOLERANCE) break
    const determinant = h11 * h22 - h21 * h21
    const bySlope = -(h22 * g1 - h21 * g2) / determinant
    const byOffset = -(-h21 * g1 + h11 * g2) / determinant
    const descent = g1 * bySlope + g2 * byOffset
    let step = 1
    while (step >= LEAST_STEP) {
      const next = lossOf(points, slope + step * bySlope, offset + step * byOffset)
      if (next < value + SUFFICIENT_DECREASE * step * descent) {
        slope += step * bySlope
        offset += step * byOffset
        value = next
        break
      }
      step /= 2
    }
    if (step < LEAST_STEP) break
  }
  return { slope, offset }
}

export function probabilityOf(logit: number, { slope, offset }: Calibration): number {
  return sigmoid(slope * logit + offset)
}

/** `1 / (1 + exp(x))` */
function sigmoid(x: number): number {
  if (x < 0) return 1 / (1 + Math.exp(x))
  const small = Math.exp(-x)
  return small / (1 + small)
}

function lossOf(points: readonly { logit: number; target: number }[], slope: number, offset: number): number {
  let sum = 0
  for (const { logit, target } of points) {
    const x = slope * logit + offset
    sum += x >= 0 ? target * x + Math.log1p(Math.exp(-x)) : (target - 1) * x + Math.log1p(Math.exp(x))
  }
  return sum
}
