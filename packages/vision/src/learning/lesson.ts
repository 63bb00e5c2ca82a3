/**
 * The result of one night for a camera: a verifier trained on the reviews of that camera, for each label a calibration
 * and a threshold, and whether it takes over. The newest fifth of the reviews is never trained on. On it the candidate
 * must lose no detection that people called right, and have fewer false alarms than the current verifier.
 */
import { minimise } from '../lbfgs.ts'
import { calibrate, probabilityOf, type Calibration, type Judged } from './platt.ts'
import { controlRisk, type Threshold } from './risk-control.ts'

export type Example = {
  readonly label: string
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  /**
   * A person's review; undefined for a weak negative: a detection that repeats or is held back, and that nobody called
   * right.
   */
  readonly isRight: boolean | undefined
  /** Reviews have numbers in the order in which they were given. */
  readonly seq: number
  /** Whether people were asked about it before; then they are not asked again. */
  readonly isSettled: boolean
  /** Whether it is held back now. */
  readonly isHeldBack: boolean
}

/** Examples with their features, example after example. */
export type Examples = { readonly list: readonly Example[]; readonly rows: Float32Array; readonly features: number }

/** Tells right detections of one label on one camera from false alarms. */
export type Verifier = {
  readonly weights: Float32Array
  readonly bias: number
  readonly calibration: Calibration
  readonly threshold: Threshold
}

export type Outcome =
  /** Fewer than 20 right or 20 wrong reviews. */
  | 'too-few-reviews'
  /** The newest fifth has no right or no wrong detection to test on. */
  | 'untested'
  | 'loses-right'
  | 'not-fewer-false-alarms'
  | 'better'

/** The lesson of one label. `lost` and the false alarms are those of the newest fifth. */
export type Lesson = {
  readonly label: string
  readonly right: number
  readonly wrong: number
  readonly outcome: Outcome
  /** Present when there are enough reviews. */
  readonly candidate?: Verifier
  readonly test?: { right: number; lost: number; falseAlarmsNow: number; falseAlarms: number }
}

export type Drift = {
  readonly label: string
  readonly reviews: number
  /** The mean probability that the current verifier gave, and the share that people called right. */
  readonly expected: number
  readonly observed: number
  /**
   * The calibration of the current verifier on these reviews, which it was not trained on; present when there are
   * enough.
   */
  readonly calibration?: Calibration
}

export type Night = {
  readonly lessons: readonly Lesson[]
  /** Places in the list of reviews that contradict all others: people should look at them again. */
  readonly doubtful: readonly number[]
  readonly drift: readonly Drift[]
}

export type LearnOptions = {
  /** The current verifiers, by label. */
  readonly current: ReadonlyMap<string, Verifier>
  /** False for labels that are never learned away. */
  mayLearn(label: string): boolean
}

export const LEAST_REVIEWS = 20
/** The share of right detections that may be missed, on average. */
export const MISSED_SHARE = 0.01
const NEWEST_SHARE = 1 / 5
const FOLDS = 5
/** Detections closer than this are one event, which stays on one side of each split. */
const EVENT_GAP_MS = 45_000
const WEAK_WEIGHT = 0.2
/** `l2` of the mean loss is this divided by the number of examples. */
const REGULARISATION = 0.25
const ITERATIONS = 60
const DOUBTFUL_BELOW = 0.15
const DOUBTFUL_MAX = 5
const DRIFT_LEAST_REVIEWS = 10
const CALIBRATION_LEAST_REVIEWS = 10

type Linear = Pick<Verifier, 'weights' | 'bias'>

/** `row` has the features of one example, as many as there are weights. */
export function logitOf({ weights, bias }: Linear, row: Float32Array): number {
  let sum = bias
  for (let i = 0; i < weights.length; i++) sum += weights[i]! * row[i]!
  return sum
}

/** `probability` that people would call it right. */
export function verify(verifier: Verifier, row: Float32Array): { isHeldBack: boolean; probability: number } {
  const logit = logitOf(verifier, row)
  return { isHeldBack: logit < verifier.threshold.logit, probability: probabilityOf(logit, verifier.calibration) }
}

/** Learns everything of one camera. Labels without enough reviews get a lesson that says so. */
export function learn(examples: Examples, { current, mayLearn }: LearnOptions): Night {
  const { list } = examples
  const reviewed = list.flatMap((example, index) => (example.isRight === undefined ? [] : [index]))
  const events = eventsOf(list, reviewed)
  const { older, newest } = split(events)
  const labels = [...new Set(reviewed.map((index) => list[index]!.label))].filter(mayLearn).toSorted()
  const countOf = (label: string, isRight: boolean) =>
    reviewed.filter((index) => list[index]!.label === label && list[index]!.isRight === isRight).length
  const counts = labels.map((label) => ({ label, right: countOf(label, true), wrong: countOf(label, false) }))
  const isReady = ({ right, wrong }: { right: number; wrong: number }) =>
    right >= LEAST_REVIEWS && wrong >= LEAST_REVIEWS
  const drift = driftOf(examples, newest, current)
  if (!counts.some(isReady))
    return { lessons: counts.map((count) => ({ ...count, outcome: 'too-few-reviews' })), doubtful: [], drift }

  const weak = list.flatMap((example, index) => (example.isRight === undefined ? [index] : []))
  const outside = crossFit(examples, older, weak)
  const linear = train(examples, [...older.flat(), ...weak])
  for (const index of newest) outside.set(index, logitOf(linear, rowOf(examples, index)))
  const lessons = counts.map((count): Lesson => {
    if (!isReady(count)) return { ...count, outcome: 'too-few-reviews' }
    const judged = older
      .flat()
      .filter((index) => list[index]!.label === count.label)
      .map((index): Judged => ({ logit: outside.get(index)!, isRight: list[index]!.isRight! }))
    const right = judged.filter(({ isRight }) => isRight)
    if (right.length < 2) return { ...count, outcome: 'untested' }
    const candidate: Verifier = {
      ...linear,
      calibration: calibrate(judged),
      threshold: controlRisk(
        right.map(({ logit }) => logit),
        MISSED_SHARE,
      ),
    }
    return { ...count, candidate, ...compare(examples, count.label, newest, candidate, current.get(count.label)) }
  })
  return { lessons, doubtful: doubtfulOf(list, outside, counts.filter(isReady)), drift }
}

/**
 * Compares the candidate with the current verifier on the newest fifth. Held-back detections are seldom reviewed; they
 * count as false alarms unless somebody called them right, so that a candidate has to hold them back too.
 */
function compare(
  examples: Examples,
  label: string,
  newest: readonly number[],
  candidate: Verifier,
  running: Verifier | undefined,
): Pick<Lesson, 'outcome' | 'test'> {
  const { list } = examples
  const own = newest.filter((index) => list[index]!.label === label)
  const from = Math.min(...newest.map((index) => list[index]!.at))
  const held = list.flatMap((example, index) =>
    example.label === label && example.isRight === undefined && example.isHeldBack && example.at >= from ? [index] : [],
  )
  const right = own.filter((index) => list[index]!.isRight)
  const wrong = [...own.filter((index) => !list[index]!.isRight), ...held]
  const passes = (verifier: Verifier | undefined) => (index: number) =>
    !verifier || !verify(verifier, rowOf(examples, index)).isHeldBack
  const test = {
    right: right.length,
    lost: right.length - right.filter(passes(candidate)).length,
    falseAlarmsNow: wrong.filter(passes(running)).length,
    falseAlarms: wrong.filter(passes(candidate)).length,
  }
  if (test.right === 0 || wrong.length === 0) return { outcome: 'untested', test }
  if (test.lost > 0) return { outcome: 'loses-right', test }
  return { outcome: test.falseAlarms < test.falseAlarmsNow ? 'better' : 'not-fewer-false-alarms', test }
}

/** Events in the order of their newest review; each a list of places in `list`. */
function eventsOf(list: readonly Example[], reviewed: readonly number[]): number[][] {
  const events: number[][] = []
  let lastAt = -Infinity
  for (const index of reviewed.toSorted((a, b) => list[a]!.at - list[b]!.at)) {
    const { at } = list[index]!
    if (at - lastAt < EVENT_GAP_MS) events.at(-1)!.push(index)
    else events.push([index])
    lastAt = at
  }
  const newestOf = (event: number[]) => Math.max(...event.map((index) => list[index]!.seq))
  return events.toSorted((a, b) => newestOf(a) - newestOf(b))
}

function split(events: readonly number[][]): { older: number[][]; newest: number[] } {
  const count = events.reduce((sum, { length }) => sum + length, 0)
  const newest: number[] = []
  let cut = events.length
  while (cut > 0 && newest.length < count * NEWEST_SHARE) newest.push(...events[--cut]!)
  return { older: events.slice(0, cut), newest }
}

/** Logits of each example by a classifier that was not trained on its event (cross-conformal, Vovk 2015). */
function crossFit(examples: Examples, events: readonly number[][], weak: readonly number[]): Map<number, number> {
  const logits = new Map<number, number>()
  const foldOf = (at: number) => Math.floor((at * FOLDS) / events.length)
  for (let fold = 0; fold < FOLDS; fold++) {
    const held = events.filter((_, at) => foldOf(at) === fold).flat()
    if (held.length === 0) continue
    const linear = train(examples, [...events.filter((_, at) => foldOf(at) !== fold).flat(), ...weak])
    for (const index of held) logits.set(index, logitOf(linear, rowOf(examples, index)))
  }
  return logits
}

/**
 * Logistic regression with L2 of two classes: the mean cross-entropy plus `l2 / 2` times the squared weights. Four
 * examples share a pass over the weights, which halves the time.
 */
function train({ list, rows, features }: Examples, indices: readonly number[]): Linear {
  const weightOf = (index: number) => (list[index]!.isRight === undefined ? WEAK_WEIGHT : 1)
  const total = indices.reduce((sum, index) => sum + weightOf(index), 0)
  const l2 = REGULARISATION / Math.max(1, indices.length)
  const passes = inFours(indices)
  const starts = Uint32Array.from(passes, (index) => index * features)
  const targets = Float64Array.from(passes, (index) => Number(list[index]!.isRight === true))
  // The repeated examples in the last group of four have no weight.
  const shares = Float64Array.from(passes, (index, n) => (n < indices.length ? weightOf(index) / total : 0))
  const solution = minimise(
    (point, gradient) => {
      const bias = point[features]!
      let value = 0
      let biasSlope = 0
      gradient.fill(0)
      const judge = (n: number, logit: number): number => {
        const signed = targets[n] === 1 ? logit : -logit
        value += shares[n]! * (signed > 0 ? Math.log1p(Math.exp(-signed)) : Math.log1p(Math.exp(signed)) - signed)
        const error = shares[n]! * (1 / (1 + Math.exp(-logit)) - targets[n]!)
        biasSlope += error
        return error
      }
      for (let n = 0; n < starts.length; n += 4) {
        const [a, b, c, d] = [starts[n]!, starts[n + 1]!, starts[n + 2]!, starts[n + 3]!]
        let [logitA, logitB, logitC, logitD] = [bias, bias, bias, bias]
        for (let i = 0; i < features; i++) {
          const weight = point[i]!
          logitA += weight * rows[a + i]!
          logitB += weight * rows[b + i]!
          logitC += weight * rows[c + i]!
          logitD += weight * rows[d + i]!
        }
        const errorA = judge(n, logitA)
        const errorB = judge(n + 1, logitB)
        const errorC = judge(n + 2, logitC)
        const errorD = judge(n + 3, logitD)
        for (let i = 0; i < features; i++)
          gradient[i]! += errorA * rows[a + i]! + errorB * rows[b + i]! + errorC * rows[c + i]! + errorD * rows[d + i]!
      }
      for (let i = 0; i < features; i++) {
        value += (l2 / 2) * point[i]! * point[i]!
        gradient[i]! += l2 * point[i]!
      }
      gradient[features] = biasSlope
      return value
    },
    new Float64Array(features + 1),
    { iterations: ITERATIONS },
  )
  return { weights: Float32Array.from(solution.subarray(0, features)), bias: solution[features]! }
}

/** Fills up the last group of four by repeating the last index. */
function inFours(indices: readonly number[]): number[] {
  const last = indices.at(-1)
  return last === undefined ? [] : [...indices, ...Array.from({ length: (4 - (indices.length % 4)) % 4 }, () => last)]
}

/**
 * Reviews that a calibrated verifier, which did not see them, considers mistakes: the most certain first (confident
 * learning, Northcutt, Jiang and Chuang 2021). They count as they are until a person has looked again.
 */
function doubtfulOf(
  list: readonly Example[],
  outside: ReadonlyMap<number, number>,
  ready: readonly { label: string }[],
): number[] {
  const found: { index: number; probability: number }[] = []
  for (const { label } of ready) {
    const own = [...outside].filter(([index]) => list[index]!.label === label)
    const calibration = calibrate(own.map(([index, logit]) => ({ logit, isRight: list[index]!.isRight! })))
    for (const [index, logit] of own) {
      const { isRight, isSettled } = list[index]!
      const right = probabilityOf(logit, calibration)
      const probability = isRight ? right : 1 - right
      if (!isSettled && probability < DOUBTFUL_BELOW) found.push({ index, probability })
    }
  }
  return found
    .toSorted((a, b) => a.probability - b.probability)
    .slice(0, DOUBTFUL_MAX)
    .map(({ index }) => index)
}

function driftOf(examples: Examples, newest: readonly number[], current: ReadonlyMap<string, Verifier>): Drift[] {
  return [...current].flatMap(([label, verifier]) => {
    const own = newest.filter((index) => examples.list[index]!.label === label)
    if (own.length < DRIFT_LEAST_REVIEWS) return []
    const judged = own.map((index): Judged & { probability: number } => {
      const row = rowOf(examples, index)
      const isRight = examples.list[index]!.isRight!
      return { logit: logitOf(verifier, row), isRight, probability: verify(verifier, row).probability }
    })
    const right = judged.filter(({ isRight }) => isRight).length
    const isEnough = Math.min(right, judged.length - right) >= CALIBRATION_LEAST_REVIEWS
    return {
      label,
      reviews: own.length,
      expected: judged.reduce((sum, { probability }) => sum + probability, 0) / own.length,
      observed: right / own.length,
      ...(isEnough && { calibration: calibrate(judged) }),
    }
  })
}

function rowOf({ rows, features }: Examples, index: number): Float32Array {
  return rows.subarray(index * features, (index + 1) * features)
}
