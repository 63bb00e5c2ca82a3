/** Motion, tracking and the demonstration eye on the rendered scenes, whose pictures are drawn once for all tests. */
import { beforeAll, describe, expect, test } from 'vitest'
import { lookAt } from './demonstration/eye.ts'
import { createMotionDetector } from './motion.ts'
import { measureAll, precisionOf, recallOf, type Measurement, type Tally } from './rendered/measure.ts'
import { scenes, type Scene } from './rendered/index.ts'
import { Tracker } from './tracker.ts'
import type { Plane } from './image.ts'
import { useLastCompiler } from '../../../test/harness/last-compiler.ts'

useLastCompiler()

const SIZE = { width: 480, height: 270 }
const FRAMES_PER_SECOND = 5
/** Drawing takes seconds on a free core, and shares two with everything else. */
const DRAWING_MS = 300_000

/** Motion and tracking as the eye puts them together at five pictures a second. */
function follow() {
  const motion = createMotionDetector({ size: SIZE })
  const tracker = new Tracker({ confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 })
  return (plane: Plane, atMs: number) => {
    const sightings = motion.detect(plane, atMs).regions.map(({ box }) => ({ box, label: 'motion', score: 1 }))
    const { seen } = tracker.update(sightings, atMs)
    return seen.filter(({ travel }) => travel > 0.5).map(({ sighting }) => sighting)
  }
}

/** The same, with the names that the demonstration eye gives to what moves. */
function name() {
  const motion = createMotionDetector({ size: SIZE })
  const tracker = new Tracker({ highScore: 0.5, newScore: 0.6, confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 })
  return (plane: Plane, atMs: number) => {
    const sightings = motion.detect(plane, atMs).regions.map(({ box }) => ({ box, ...lookAt(plane, box) }))
    const { seen } = tracker.update(
      sightings.filter(({ label }) => label !== 'nothing'),
      atMs,
    )
    return seen.map(({ sighting, label }) => ({ box: sighting.box, label }))
  }
}

let measured: { scene: Scene; followed: Tally; named: Measurement }[]
beforeAll(() => {
  measured = scenes.map((scene) => {
    const [followed, named] = measureAll(scene, { ...SIZE, framesPerSecond: FRAMES_PER_SECOND }, [follow(), name()])
    return { scene, followed: followed!, named: named! }
  })
}, DRAWING_MS)

const sum = (tallies: Tally[]): Tally => ({
  right: tallies.reduce((total, { right }) => total + right, 0),
  wrong: tallies.reduce((total, { wrong }) => total + wrong, 0),
  missed: tallies.reduce((total, { missed }) => total + missed, 0),
})

describe('motion and tracking on rendered scenes, at five pictures a second', () => {
  test('figures that walk through are found, and little else', () => {
    const walked = measured.filter(({ scene }) => scene.actors.length > 0)
    const total = sum(walked.map(({ followed }) => followed))
    expect(recallOf(total)).toBeGreaterThan(0.92)
    expect(precisionOf(total)).toBeGreaterThan(0.92)
  })

  test('wind, rain, clouds, a lamp and noise hardly ever count as an object', () => {
    // Headlights move like an animal; only recognition can tell them apart.
    const empty = measured.filter(({ scene }) => scene.actors.length === 0 && !scene.headlightsMs)
    const pictures = empty.reduce((count, { scene }) => count + (scene.durationMs / 1_000) * FRAMES_PER_SECOND, 0)
    expect(sum(empty.map(({ followed }) => followed)).wrong / pictures).toBeLessThan(0.04)
  })
})

test('with motion and tracking, the demonstration eye finds and names the figures that walk through', () => {
  const total = sum(measured.map(({ named }) => named))
  const labelled = measured.reduce((count, { named }) => count + named.labelled, 0)
  expect(precisionOf(total)).toBeGreaterThan(0.93)
  expect(recallOf(total)).toBeGreaterThan(0.72)
  expect(labelled / total.right).toBeGreaterThan(0.93)
})
