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
  const offset = classes * features
  const counted = [...labels.keys()].filter((n) => !importance || importance[n] !== 0)
  /** Of each example of a group its logits, then its probabilities, then its errors. */
  const group = Array.from({ length: AT_ONCE }, () => new Float64Array(classes))

  const solution = minimise(
    (point, gradient) => {
      let value = 0
      gradient.fill(0)
      for (let i = 0; i < offset; i++) {
        value += (l2 / 2) * point[i]! * point[i]!
        gradient[i] = l2 * point[i]!
      }
      for (let from = 0; from < counted.length; from += AT_ONCE) {
        const starts = group.map((_, at) => (counted[from + at] ?? counted[from]!) * features)
        for (let k = 0; k < classes; k++) dots(point, k, rows, features, starts, group)
        for (const [at, own] of group.entries()) {
          const n = counted[from + at]
          // The last group may have fewer examples: the others change nothing.
          if (n === undefined) {
            own.fill(0)
            continue
          }
          const share = (importance ? importance[n]! : 1) / total
          for (let k = 0; k < classes; k++) own[k] = point[offset + k]! + own[k]!
          value -= share * logProbability(own, labels[n]!)
          for (let k = 0; k < classes; k++) {
            const error = share * (own[k]! - (k === labels[n] ? 1 : 0))
            gradient[offset + k]! += error
            own[k] = Math.abs(error) > NEGLIGIBLE ? error : 0
          }
        }
        for (let k = 0; k < classes; k++) addScaled(gradient, k, rows, features, starts, group)
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
/** As many examples share a pass over the weights, which is faster. */
const AT_ONCE = 4

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

function dot(weights: Float32Array, from: number, row: Float32Array): number {
  let sum = 0
  for (let i = 0; i < row.length; i++) sum += weights[from + i]! * row[i]!
  return sum
}

/** The products of the weights of class `k` with the rows that begin at `starts`, each into the place of its group. */
function dots(
  weights: Float64Array,
  k: number,
  rows: Float32Array,
  features: number,
  starts: readonly number[],
  group: readonly Float64Array[],
): void {
  const [a, b, c, d] = starts as [number, number, number, number]
  const from = k * features
  let [sumA, sumB, sumC, sumD] = [0, 0, 0, 0]
  for (let i = 0; i < features; i++) {
    const weight = weights[from + i]!
    sumA += weight * rows[a + i]!
    sumB += weight * rows[b + i]!
    sumC += weight * rows[c + i]!
    sumD += weight * rows[d + i]!
  }
  for (const [at, sum] of [sumA, sumB, sumC, sumD].entries()) group[at]![k] = sum
}

/** Adds the rows that begin at `starts`, each times its error, to the gradient of class `k`. */
function addScaled(
  gradient: Float64Array,
  k: number,
  rows: Float32Array,
  features: number,
  starts: readonly number[],
  group: readonly Float64Array[],
): void {
  const [a, b, c, d] = starts as [number, number, number, number]
  const [errorA, errorB, errorC, errorD] = group.map((errors) => errors[k]!) as [number, number, number, number]
  if (errorA === 0 && errorB === 0 && errorC === 0 && errorD === 0) return
  const from = k * features
  for (let i = 0; i < features; i++)
    // In the order of the examples: any other order rounds differently.
    gradient[from + i] =
      gradient[from + i]! +
      errorA * rows[a + i]! +
      errorB * rows[b + i]! +
      errorC * rows[c + i]! +
      errorD * rows[d + i]!
}
