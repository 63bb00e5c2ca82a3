/**
 * The names that people give to animals which the detector calls otherwise: logistic regression with L2 on the
 * detector's own features. A name passes when it was right on corrections that its classifier was not trained on, with
 * a threshold of its own: conformal risk control, as in `risk-control.ts`, for wrong names among all that it gives.
 */
import type { Box } from '../box.ts'
import { classify, trainClassifier, type LinearClassifier } from '../linear-classifier.ts'

/** A look at an animal. */
export type NameGlance = {
  /** As `pooled` makes them. */
  readonly features: Float32Array
  readonly box: Box | undefined
  /** The time of day at the camera, 0 to 24. */
  readonly hour: number
  readonly camera: string
}

export type NameExample = NameGlance & {
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  /** One of the names, or undefined for anything else. */
  readonly name: string | undefined
}

/** Class 0 is anything else, the others are the names in their order. */
export type NameHead = {
  readonly names: readonly string[]
  /** Cameras that it was trained on. */
  readonly cameras: readonly string[]
  readonly classifier: LinearClassifier
  /** The lowest probability of each name; above 1 for one that did not pass. */
  readonly thresholds: readonly number[]
}

/** What the corrections showed that were held out. `wrong`: other things that would have got this name. */
export type NameLesson = {
  readonly name: string
  readonly corrections: number
  readonly named: number
  readonly wrong: number
  readonly hasPassed: boolean
}

/** Of a name, and of anything else. */
export const LEAST_CORRECTIONS = 20
/** The share of wrong names among those that are given. */
export const WRONG_NAMES = 0.05
/** A name that it finds less often is not worth a rule. */
const LEAST_FOUND = 0.5
const NEVER = 2
const FOLDS = 5
/** Looks closer than this are one event, which is on one side of each split. */
const EVENT_GAP_MS = 45_000
const CAMERAS_MAX = 8
/** Chosen on photographs: docs/performance.md. */
const SCALE = 10
const L2 = 1e-3
/** Weak, so that no place or hour decides alone. */
const PLACE = 0.3
const PLACES = 2 + 2 + CAMERAS_MAX
/** A name that is at least this likely makes the detector's own label doubtful. */
const DOUBT = 0.5

function rowOf({ features, box, hour, camera }: NameGlance, cameras: readonly string[]): Float32Array {
  const row = new Float32Array(features.length + PLACES)
  for (let i = 0; i < features.length; i++) row[i] = SCALE * features[i]!
  const angle = (2 * Math.PI * hour) / 24
  const place = [Math.sqrt(box?.width ?? 0), Math.sqrt(box?.height ?? 0), Math.sin(angle), Math.cos(angle)]
  for (const [i, value] of place.entries()) row[features.length + i] = PLACE * value
  const at = cameras.indexOf(camera)
  if (at >= 0) row[features.length + place.length + at] = PLACE
  return row
}

/** Undefined for features of another model. `isSure`: it is at least as likely as the name's threshold wants. */
export function nameOf(
  head: NameHead,
  glance: NameGlance,
): { name: string; probability: number; isSure: boolean } | undefined {
  if (glance.features.length + PLACES !== head.classifier.features) return undefined
  const probabilities = classify(head.classifier, rowOf(glance, head.cameras))
  const [, ...own] = probabilities
  const best = own.reduce((top, value, i) => (value > own[top]! ? i : top), 0)
  const probability = own[best]!
  if (probability < DOUBT || head.thresholds[best]! > 1) return undefined
  return { name: head.names[best]!, probability, isSure: probability >= head.thresholds[best]! }
}

/** `names`: those with enough corrections; every other example is anything else. Undefined when there is too little. */
export function learnNames(
  examples: readonly NameExample[],
  names: readonly string[],
): { head: NameHead; lessons: NameLesson[] } | undefined {
  const others = examples.filter(({ name }) => name === undefined || !names.includes(name))
  if (names.length === 0 || others.length < LEAST_CORRECTIONS) return undefined
  const cameras = [...new Set(examples.map(({ camera }) => camera))].slice(0, CAMERAS_MAX)
  const rows = examples.map((example) => rowOf(example, cameras))
  const classes = examples.map(({ name }) => (name === undefined ? 0 : names.indexOf(name) + 1))
  const events = eventsOf(examples)
  const train = (indices: readonly number[]) => trainOn(rows, classes, indices, names.length + 1)
  const outside = new Map<number, Float64Array>()
  for (let fold = 0; fold < FOLDS; fold++) {
    const held = events.filter((_, at) => at % FOLDS === fold).flat()
    if (held.length === 0) continue
    const classifier = train(events.filter((_, at) => at % FOLDS !== fold).flat())
    for (const index of held) outside.set(index, classify(classifier, rows[index]!))
  }
  const judged = names.map((name, place) => {
    const own = place + 1
    const given = [...outside].flatMap(([index, probabilities]) => {
      const isBest = probabilities.every((value, at) => at === own || value <= probabilities[own]!)
      return isBest ? [{ probability: probabilities[own]!, isRight: classes[index] === own }] : []
    })
    return { name, corrections: classes.filter((each) => each === own).length, ...thresholdOf(given) }
  })
  const lessons = judged.map(({ threshold, ...lesson }) => {
    const hasPassed = threshold <= 1 && lesson.named - lesson.wrong >= LEAST_FOUND * lesson.corrections
    return { ...lesson, hasPassed }
  })
  const thresholds = judged.map(({ threshold }, i) => (lessons[i]!.hasPassed ? threshold : NEVER))
  return { head: { names, cameras, classifier: train([...rows.keys()]), thresholds }, lessons }
}

/**
 * The lowest threshold with `(wrong + 1) / (named + 1)` of at most 5 %, so 19 right names and none wrong are the least.
 */
function thresholdOf(given: readonly { probability: number; isRight: boolean }[]) {
  let found = { threshold: NEVER, named: 0, wrong: 0 }
  let [named, wrong] = [0, 0]
  for (const { probability, isRight } of given.toSorted((a, b) => b.probability - a.probability)) {
    if (probability < DOUBT) break
    named += 1
    if (!isRight) wrong += 1
    if ((wrong + 1) / (named + 1) <= WRONG_NAMES + 1e-9) found = { threshold: probability, named, wrong }
  }
  return found.threshold > 1 ? { ...found, named, wrong } : found
}

/** Each class counts as much as the others. */
function trainOn(rows: readonly Float32Array[], of: readonly number[], indices: readonly number[], classes: number) {
  const features = rows[0]!.length
  const all = new Float32Array(indices.length * features)
  for (const [n, index] of indices.entries()) all.set(rows[index]!, n * features)
  const labels = Uint8Array.from(indices, (index) => of[index]!)
  const counts = Array.from({ length: classes }, (_, label) => labels.filter((each) => each === label).length)
  const importance = Float32Array.from(labels, (label) => 1 / counts[label]!)
  return trainClassifier({ rows: all, features, labels, classes, importance }, { l2: L2 })
}

/** Places in the list, oldest event first. */
function eventsOf(examples: readonly NameExample[]): number[][] {
  const events: number[][] = []
  let lastAt = -Infinity
  for (const index of [...examples.keys()].toSorted((a, b) => examples[a]!.at - examples[b]!.at)) {
    const { at } = examples[index]!
    if (at - lastAt < EVENT_GAP_MS) events.at(-1)!.push(index)
    else events.push([index])
    lastAt = at
  }
  return events
}
