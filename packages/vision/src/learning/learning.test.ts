import { expect, test } from 'vitest'
import { createRgbImage } from '../image.ts'
import { createRandom } from '../rendered/index.ts'
import { cropOf, verifierFeatures, VERIFIER_FEATURES } from './features.ts'
import { learn, verify, type Example, type Lesson, type Verifier } from './lesson.ts'
import { calibrate, probabilityOf } from './platt.ts'
import { findRepeats } from './repeats.ts'
import { controlRisk } from './risk-control.ts'

test('calibration finds the sigmoid that the judgements were drawn from', () => {
  const random = createRandom(3)
  const judged = Array.from({ length: 4_000 }, () => {
    const logit = random.between(-6, 6)
    return { logit, isRight: random.next() < 1 / (1 + Math.exp(-0.8 * logit + 0.5)) }
  })
  const { slope, offset } = calibrate(judged)
  expect(slope).toBeCloseTo(-0.8, 1)
  expect(offset).toBeCloseTo(0.5, 1)
  // Perfectly parted judgements end at the targets of Platt, not at 0 and 1.
  const parted = calibrate([-2, -1, 1, 2].map((logit) => ({ logit, isRight: logit > 0 })))
  expect(probabilityOf(2, parted)).toBeLessThan(1)
  expect(probabilityOf(2, parted)).toBeGreaterThan(0.7)
  expect(probabilityOf(1_000, calibrate([{ logit: 0, isRight: true }]))).toBeGreaterThan(0.5)
  expect(() => calibrate([])).toThrow(RangeError)
})

test('the threshold misses no larger share of right detections than it promises', () => {
  const random = createRandom(4)
  for (const { count, share } of [
    { count: 20, share: 0.01 },
    { count: 99, share: 0.01 },
    { count: 400, share: 0.05 },
  ]) {
    let missed = 0
    let bound = 0
    for (let trial = 0; trial < 1_000; trial++) {
      const threshold = controlRisk(
        Array.from({ length: count }, () => random.normal()),
        share,
      )
      bound = threshold.bound
      if (random.normal() < threshold.logit) missed += 1
    }
    expect(missed / 1_000).toBeLessThan(share + 3 * Math.sqrt((share * (1 - share)) / 1_000))
    expect(bound).toBeCloseTo(count === 20 ? 1 / 21 : count === 99 ? 0.01 : 20 / 401, 3)
  }
  // Of 99 the lowest is at the threshold itself, so it passes; of 199 one is below.
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)
  expect(controlRisk(upTo(99), 0.01).logit).toBe(0)
  expect(controlRisk(upTo(199), 0.01).logit).toBe(1)
  expect(controlRisk(upTo(98), 0.01).logit).toBeLessThan(0)
  expect(controlRisk(upTo(98), 0.01).needed).toBe(99)
})

test('a box that comes again twenty times is a repeat, unless somebody called it right', () => {
  const random = createRandom(5)
  const branch = () => ({ x: 0.7 + random.between(0, 0.004), y: 0.1, width: 0.2, height: 0.2 })
  const again = (times: number) =>
    Array.from({ length: times }, () => ({ label: 'deer', box: branch(), isRight: undefined as boolean | undefined }))
  const passing = Array.from({ length: 60 }, (_, i) => ({
    label: 'deer',
    box: { x: i / 100, y: 0.6, width: 0.1, height: 0.2 },
    isRight: undefined,
  }))
  expect(findRepeats([...passing, ...again(19)])).toEqual([])
  const [found, ...others] = findRepeats([...passing, ...again(19), { label: 'deer', box: branch(), isRight: false }])
  expect(others).toEqual([])
  expect(found).toMatchObject({ label: 'deer', times: 20, wrong: 1 })
  expect(found!.box.x).toBeCloseTo(0.692, 2)
  expect(findRepeats([...again(30), { label: 'deer', box: branch(), isRight: true }])).toEqual([])
  // An animal with another label at this place also prevents the proposal.
  const fox = { label: 'fox', box: { x: 0.68, y: 0.1, width: 0.22, height: 0.22 }, isRight: true }
  expect(findRepeats([...again(30), fox])).toEqual([])
})

test('features are finite, bounded and of one length, with a place or without', () => {
  const random = createRandom(6)
  const image = createRgbImage(
    90,
    50,
    Uint8Array.from({ length: 90 * 50 * 3 }, () => random.between(0, 256)),
  )
  const crop = cropOf(image)
  expect([crop.width, crop.height]).toEqual([64, 64])
  for (const box of [undefined, { x: 0.95, y: 0, width: 0.05, height: 1 }]) {
    const features = verifierFeatures({
      crop: cropOf(image, box),
      box,
      score: 1,
      hour: 23.9,
      seconds: 1e9,
      travel: 1e9,
    })
    expect(features).toHaveLength(VERIFIER_FEATURES)
    expect(features.every((value) => Math.abs(value) <= 4)).toBe(true)
  }
})

const FEATURES = 6

/** Reviews of detections whose first feature tells right from wrong, `contrast` apart. */
function reviews(options: { count: number; contrast?: number; seed?: number; rightShare?: number; label?: string }) {
  const { count, contrast = 10, seed = 1, rightShare = 0.5, label = 'deer' } = options
  const random = createRandom(seed)
  const list: Example[] = []
  const rows = new Float32Array(count * FEATURES)
  for (let i = 0; i < count; i++) {
    const isRight = i % Math.round(1 / rightShare) === 0
    list.push({ label, at: i * 600_000, isRight, seq: i + 1, isSettled: false, isHeldBack: false })
    for (let j = 0; j < FEATURES; j++) rows[i * FEATURES + j] = random.normal()
    rows[i * FEATURES]! += isRight ? contrast / 2 : -contrast / 2
  }
  return { list, rows, features: FEATURES }
}

const learnAll = (examples: ReturnType<typeof reviews>, current = new Map<string, Verifier>()) =>
  learn(examples, { current, mayLearn: (label) => label !== 'person' })
const one = (examples: ReturnType<typeof reviews>, current?: Map<string, Verifier>): Lesson =>
  learnAll(examples, current).lessons[0]!

test('a verifier takes over when it loses no right detection and raises fewer false alarms', () => {
  const lesson = one(reviews({ count: 200 }))
  expect(lesson.outcome).toBe('better')
  expect(lesson.test).toMatchObject({ right: 20, lost: 0, falseAlarmsNow: 20 })
  expect(lesson.test!.falseAlarms).toBeLessThan(4)
  const fresh = reviews({ count: 400, seed: 9 })
  let [missed, held] = [0, 0]
  for (const [n, { isRight }] of fresh.list.entries()) {
    const row = fresh.rows.subarray(n * FEATURES, (n + 1) * FEATURES)
    const { isHeldBack, probability } = verify(lesson.candidate!, row)
    expect(probability).toBeGreaterThan(0)
    if (isHeldBack && isRight) missed += 1
    if (isHeldBack && !isRight) held += 1
  }
  expect(missed).toBeLessThan(5)
  expect(held).toBeGreaterThan(150)
  // The same reviews again bring no improvement.
  expect(one(reviews({ count: 200 }), new Map([['deer', lesson.candidate!]])).outcome).toBe('not-fewer-false-alarms')
})

test('fewer than twenty right or wrong reviews teach nothing, and neither do persons', () => {
  expect(one(reviews({ count: 39 }))).toEqual({ label: 'deer', right: 20, wrong: 19, outcome: 'too-few-reviews' })
  expect(learnAll(reviews({ count: 200, label: 'person' })).lessons).toEqual([])
})

test('detections that people called right in the newest fifth are never lost', () => {
  const examples = reviews({ count: 200 })
  const at = examples.list.findLastIndex(({ isRight }) => isRight)
  examples.rows[at * FEATURES] = -30
  const { outcome, test: tested } = one(examples)
  expect(outcome).toBe('loses-right')
  expect(tested!.lost).toBe(1)
})

test('the newest fifth is never trained on, and neither is the rest of an event that reaches into it', () => {
  const examples = reviews({ count: 200 })
  const lies = { ...examples, list: examples.list.map((one, i) => (i < 160 ? one : { ...one, isRight: !one.isRight })) }
  expect(one(lies).candidate!.weights).toEqual(one(examples).candidate!.weights)
  const event = { ...examples, list: examples.list.map((one, i) => (i < 150 ? one : { ...one, at: 9e9 + i * 1_000 })) }
  const before = { ...event, list: event.list.map((one, i) => (i < 150 ? one : { ...one, isRight: !one.isRight })) }
  expect(one(before).candidate!.weights).toEqual(one(event).candidate!.weights)
})

test('reviews without a pattern hold hardly anything back', () => {
  const lessons = Array.from({ length: 10 }, (_, seed) => one(reviews({ count: 200, contrast: 0, seed })))
  const passed = lessons.map(({ outcome, test: tested }) => (outcome === 'better' ? tested!.falseAlarms : 20))
  expect(Math.min(...passed)).toBeGreaterThan(15)
})

test('reviews that contradict all others are asked about again, once', () => {
  const examples = reviews({ count: 200 })
  const slip = (n: number) => ({ ...examples.list[n]!, isRight: !examples.list[n]!.isRight })
  examples.list[51] = slip(51)
  examples.list[80] = slip(80)
  expect(learnAll(examples).doubtful.toSorted((a, b) => a - b)).toEqual([51, 80])
  examples.list[51] = { ...examples.list[51], isSettled: true }
  expect(learnAll(examples).doubtful).toEqual([80])
})

test('drift compares the expected share with the reviews', () => {
  const { candidate } = one(reviews({ count: 200 }))
  const current = new Map([['deer', candidate!]])
  const [same] = learnAll(reviews({ count: 200, seed: 2 }), current).drift
  expect(Math.abs(same!.expected - same!.observed)).toBeLessThan(0.1)
  const winter = reviews({ count: 200, seed: 2 })
  for (let n = 0; n < 200; n++) winter.rows[n * FEATURES]! += 9
  const [other] = learnAll(winter, current).drift
  expect(other!.expected - other!.observed).toBeGreaterThan(0.3)
})
