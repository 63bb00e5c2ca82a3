/** The training data of the demonstration eye: drawn crops with their classes, from seeds; other seeds are held out. */
import { clipToPicture, type Box } from '../box.ts'
import { HOG_FEATURES, hogOf } from '../hog.ts'
import { lumaOf, type Plane } from '../image.ts'
import { classify, trainClassifier, type Examples, type LinearClassifier } from '../linear-classifier.ts'
import { createMotionDetector } from '../motion.ts'
import { createRandom, createRenderer, RENDERED_LABELS, walker, type Random, type Scene } from '../rendered/index.ts'
import { cropFor, DEMONSTRATION_CLASSES } from './eye.ts'

const SIZE = { width: 320, height: 180 }
const FRAME_MS = 200
/** Motion puts a box around whole blocks and shadows: sides are moved by up to this share. */
const JITTER = 0.08
const L2 = 2e-4
const ITERATIONS = 40

/** How much is drawn: individuals of each label, pictures of each, empty scenes. */
export type Amount = { readonly individuals: number; readonly pictures: number; readonly emptyScenes: number }

export const TRAINING: Amount & { seed: number } = { seed: 1, individuals: 36, pictures: 4, emptyScenes: 10 }
export const HELD_OUT: Amount & { seed: number } = { seed: 500_001, individuals: 16, pictures: 4, emptyScenes: 5 }

export function trainDemonstrationEye(): LinearClassifier {
  return trainClassifier(drawExamples(TRAINING), { l2: L2, iterations: ITERATIONS })
}

/** Share of the examples whose class is the most probable one. */
export function accuracyOf(classifier: LinearClassifier, { rows, features, labels }: Examples): number {
  let right = 0
  for (const [n, label] of labels.entries()) {
    const probabilities = classify(classifier, rows.subarray(n * features, (n + 1) * features))
    if (probabilities.every((probability) => probability <= probabilities[label]!)) right++
  }
  return right / labels.length
}

export function drawExamples({ seed, individuals, pictures, emptyScenes }: Amount & { seed: number }): Examples {
  const rows: Float32Array[] = []
  const labels: number[] = []
  const add = (plane: Plane, box: Box, label: (typeof DEMONSTRATION_CLASSES)[number]) => {
    rows.push(hogOf(cropFor(plane, box)))
    labels.push(DEMONSTRATION_CLASSES.indexOf(label))
  }
  for (const label of RENDERED_LABELS)
    for (let i = 0; i < individuals; i++) {
      const random = createRandom(seed + i * 1_009 + label.charCodeAt(0) * 104_729)
      for (const { plane, box } of drawWalk(label, random, pictures)) add(plane, box, label)
    }
  for (let i = 0; i < emptyScenes; i++)
    for (const { plane, box } of drawNothing(createRandom(seed + i * 7_919), i)) add(plane, box, 'nothing')
  const flat = new Float32Array(rows.length * HOG_FEATURES)
  for (const [n, row] of rows.entries()) flat.set(row, n * HOG_FEATURES)
  return { rows: flat, features: HOG_FEATURES, labels: Uint8Array.from(labels), classes: DEMONSTRATION_CLASSES.length }
}

type Drawn = { plane: Plane; box: Box }

/** One individual in several pictures of its walk. */
function drawWalk(label: (typeof RENDERED_LABELS)[number], random: Random, pictures: number): Drawn[] {
  const durationMs = 10_000
  const height = random.between(0.25, label === 'person' ? 0.85 : 0.6)
  const y = random.between(Math.max(height, 0.55), 0.9)
  const toLeft = random.next() < 0.5
  const scene: Scene = {
    name: label,
    seed: Math.floor(random.between(0, 2 ** 31)),
    daylight: random.next() < 0.5 ? 'day' : 'night',
    durationMs,
    ...(random.next() < 0.3 && { rain: 40 }),
    actors: [
      walker(label, { seed: Math.floor(random.between(0, 2 ** 31)), startMs: 0, endMs: durationMs, height, y, toLeft }),
    ],
  }
  const renderer = createRenderer(scene, SIZE.width, SIZE.height)
  return Array.from({ length: pictures }, () => {
    const { image, truth } = renderer.render(random.between(3_500, 6_500))
    return { plane: lumaOf(image), box: jitter(truth[0]!.box, random) }
  })
}

function jitter(box: Box, random: Random): Box {
  const move = (side: number) => side * random.between(-JITTER, JITTER)
  const left = box.x + move(box.width)
  const top = box.y + move(box.height)
  const right = box.x + box.width + move(box.width)
  const bottom = box.y + box.height + move(box.height)
  return { x: left, y: top, width: right - left, height: bottom - top }
}

const EMPTY: readonly Partial<Scene>[] = [
  { daylight: 'day', branch: 0.012 },
  { daylight: 'night', headlightsMs: [2_600, 6_000, 9_000] },
  { daylight: 'night', rain: 120 },
  { daylight: 'night', branch: 0.015 },
  { daylight: 'day', rain: 120, clouds: 0.3 },
]
const EMPTY_MS = 12_000
const PATCHES = 12

/** Crops without an object: what motion finds in an empty scene, and random patches of the picture. */
function drawNothing(random: Random, kind: number): Drawn[] {
  const seed = Math.floor(random.between(0, 2 ** 31))
  const scene: Scene = {
    name: 'nobody',
    seed,
    daylight: 'day',
    durationMs: EMPTY_MS,
    actors: [],
    ...EMPTY[kind % EMPTY.length],
  }
  const renderer = createRenderer(scene, SIZE.width, SIZE.height)
  const motion = createMotionDetector({ size: SIZE })
  const drawn: Drawn[] = []
  for (let at = 0; at < EMPTY_MS; at += FRAME_MS) {
    const plane = lumaOf(renderer.render(at).image)
    const [region] = motion.detect(plane, at).regions
    if (region) drawn.push({ plane, box: region.box })
    if (at % (EMPTY_MS / PATCHES) === 0) {
      const [width, height] = [random.between(0.1, 0.4), random.between(0.1, 0.5)]
      drawn.push({ plane, box: clipToPicture({ x: random.next() * 0.9, y: random.next() * 0.9, width, height }) })
    }
  }
  return drawn
}
