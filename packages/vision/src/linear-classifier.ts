/**
 * Logistic regression with L2 (multinomial: one set of weights a class, probabilities by softmax), trained to the
 * minimum of the mean cross-entropy plus `l2 / 2` times the squared weights. Biases are not regularised.
 */
import { minimise } from './lbfgs.ts'

export type LinearClassifier = {
  readonly classes: number
  readonly features: number
  /** Class after class, `weights[k * features + i]`. */
  readonly weights: Float32Array
  readonly biases: Float32Array
}

export type Examples = {
  /** Example after example, `rows[n * features + i]`. */
  readonly rows: Float32Array
  readonly features: number
  /** The class of each example, below `classes`. */
  readonly labels: Uint8Array
  readonly classes: number
  /** How much each example counts; 1 when left out. */
  readonly importance?: Float32Array
}

export type TrainingOptions = { readonly l2?: number; readonly iterations?: number }

/** Throws RangeError when the examples' lengths do not fit together, or there are none. */
export function trainClassifier(
  examples: Examples,
  { l2 = 1e-3, iterations = 100 }: TrainingOptions = {},
): LinearClassifier {
  const { rows, features, labels, classes, importance } = examples
  const count = labels.length
  if (count === 0 || rows.length !== count * features || (importance && importance.length !== count))
    throw new RangeError(`${count} examples of ${features} features take ${count * features} numbers`)
  if (labels.some((label) => label >= classes)) throw new RangeError(`labels are below ${classes}`)
  const total = importance ? importance.reduce((a, b) => a + b, 0) : count
  const logits = new Float64Array(classes)
  const offset = classes * features

  const solution = minimise(
    (point, gradient) => {
      let value = 0
      gradient.fill(0)
      for (let i = 0; i < offset; i++) {
        value += (l2 / 2) * point[i]! * point[i]!
        gradient[i] = l2 * point[i]!
      }
      for (let n = 0; n < count; n++) {
        const share = (importance ? importance[n]! : 1) / total
        if (share === 0) continue
        const row = rows.subarray(n * features, (n + 1) * features)
        for (let k = 0; k < classes; k++) logits[k] = point[offset + k]! + dot(point, k * features, row)
        value -= share * logProbability(logits, labels[n]!)
        for (let k = 0; k < classes; k++) {
          const error = share * (logits[k]! - (k === labels[n] ? 1 : 0))
          gradient[offset + k]! += error
          if (Math.abs(error) > NEGLIGIBLE) addScaled(gradient, k * features, row, error)
        }
      }
      return value
    },
    new Float64Array(offset + classes),
    { iterations },
  )
  return {
    classes,
    features,
    weights: Float32Array.from(solution.subarray(0, offset)),
    biases: Float32Array.from(solution.subarray(offset)),
  }
}

const NEGLIGIBLE = 1e-12

/** The probability of each class, which sum to 1. */
export function classify({ classes, features, weights, biases }: LinearClassifier, row: Float32Array): Float64Array {
  const probabilities = new Float64Array(classes)
  for (let k = 0; k < classes; k++) probabilities[k] = biases[k]! + dot(weights, k * features, row)
  logProbability(probabilities, 0)
  return probabilities
}

/** Turns logits into probabilities in place, and returns the logarithm of one of them. */
function logProbability(logits: Float64Array, label: number): number {
  const greatest = logits.reduce((a, b) => Math.max(a, b), -Infinity)
  const own = logits[label]! - greatest
  let sum = 0
  for (let k = 0; k < logits.length; k++) {
    logits[k] = Math.exp(logits[k]! - greatest)
    sum += logits[k]!
  }
  for (let k = 0; k < logits.length; k++) logits[k]! /= sum
  return own - Math.log(sum)
}

function dot(weights: Float64Array | Float32Array, from: number, row: Float32Array): number {
  let sum = 0
  for (let i = 0; i < row.length; i++) sum += weights[from + i]! * row[i]!
  return sum
}

function addScaled(to: Float64Array, from: number, row: Float32Array, factor: number): void {
  for (let i = 0; i < row.length; i++) to[from + i]! += factor * row[i]!
}
