import { createMotionDetector, lookAt, lumaOf, Tracker, type Plane, type Sighting } from '@hedgerow/vision'
import {
  createRenderer,
  measure,
  precisionOf,
  recallOf,
  scenes,
  type Found,
  type Measurement,
} from '@hedgerow/vision/rendered'
import { benchCameras } from './eye-cameras.ts'
import { benchFootage } from './eye-footage.ts'
import { benchEyeModel } from './eye-model.ts'
import { distributionOf, report, reportGoals, type Distribution } from './report.ts'

const SIZE = { width: 640, height: 360 }
const FRAMES_PER_SECOND = 5
const FRAME_MS = 1_000 / FRAMES_PER_SECOND
/** Ten cameras with motion only have to fit on one core: together their frames of one second may cost one second. */
const CAMERAS = 10

/**
 * `npm run bench eye`: what the eye finds in the rendered scenes, with motion and tracking alone and with the
 * demonstration eye, and what each stage costs on one core. The scenes are rendered, so the numbers compare one version
 * with the next; they do not predict real scenes.
 */
export async function benchEye(): Promise<void> {
  const found: Record<string, Record<string, number | string>> = {}
  const [motionSum, demonstrationSum] = [noMeasurement(), noMeasurement()]
  for (const scene of scenes) {
    const options = { ...SIZE, framesPerSecond: FRAMES_PER_SECOND }
    const motion = measure(scene, options, motionAlone())
    const demonstration = measure(scene, options, demonstrationEye())
    addTo(motionSum, motion)
    addTo(demonstrationSum, demonstration)
    found[scene.name] = rowOf(motion, demonstration)
  }
  found['all'] = rowOf(motionSum, demonstrationSum)
  report('eye, found in rendered scenes at 640 x 360, 5 frames a second', found)
  report('eye, ms a frame at 640 x 360 on one core', costs())
  reportGoals('eye', { ...(await benchCameras()), ...(await benchEyeModel()) })
  await benchFootage()
}

/** Precision and recall in pictures with a person; and in how many pictures without one a person is found. */
function rowOf(motion: Measurement, demonstration: Measurement): Record<string, number | string> {
  const share = (value: number) => value.toFixed(2)
  const columns = ([name, tally]: readonly [string, Measurement]) =>
    tally.right + tally.missed === 0
      ? { [`${name}: wrong`]: tally.wrong }
      : {
          [`${name}: precision`]: share(precisionOf(tally)),
          [`${name}: recall`]: share(recallOf(tally)),
          [`${name}: wrong`]: tally.wrong,
        }
  const label = demonstration.right === 0 ? {} : { 'right label': share(demonstration.labelled / demonstration.right) }
  return { ...columns(['motion', motion]), ...columns(['demonstration', demonstration]), ...label }
}

const noMeasurement = (): Measurement => ({ right: 0, wrong: 0, missed: 0, labelled: 0 })

function addTo(sum: Measurement, one: Measurement): void {
  for (const key of ['right', 'wrong', 'missed', 'labelled'] as const) sum[key] += one[key]
}

type Look = (plane: Plane, atMs: number) => readonly Found[]

function motionAlone(): Look {
  const motion = createMotionDetector({ size: SIZE })
  const tracker = new Tracker({ confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 })
  return (plane, atMs) => {
    const sightings = motion.detect(plane, atMs).regions.map(({ box }) => ({ box, label: 'motion', score: 1 }))
    const { seen } = tracker.update(sightings, atMs)
    return seen.filter(({ travel }) => travel > 0.5).map(({ sighting: { box } }) => ({ box }))
  }
}

function demonstrationEye(): Look {
  const motion = createMotionDetector({ size: SIZE })
  const tracker = new Tracker({ highScore: 0.5, newScore: 0.6, confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 })
  return (plane, atMs) => {
    const sightings = motion.detect(plane, atMs).regions.map(({ box }): Sighting => ({ box, ...lookAt(plane, box) }))
    const { seen } = tracker.update(
      sightings.filter(({ label }) => label !== 'nothing'),
      atMs,
    )
    return seen.map(({ sighting: { box }, label }) => ({ box, label }))
  }
}

/** The pictures are drawn before the clock starts; each stage is timed alone, three times over all pictures. */
function costs(): Record<string, Distribution> {
  const planes: Plane[] = []
  for (const scene of scenes.slice(0, 6)) {
    const renderer = createRenderer(scene, SIZE.width, SIZE.height)
    for (let at = 6_000; at < 10_000; at += FRAME_MS) planes.push(lumaOf(renderer.render(at).image))
  }
  const motion = createMotionDetector({ size: SIZE })
  const tracker = new Tracker({ confirmAfter: 3, buffer: 0.3 })
  const times = { 'motion and tracking': [] as number[], 'demonstration eye, each region': [] as number[] }
  for (let frame = 0; frame < 3 * planes.length; frame++) {
    const plane = planes[frame % planes.length]!
    const startedAt = performance.now()
    const { regions } = motion.detect(plane, frame * FRAME_MS)
    tracker.update(
      regions.map(({ box }) => ({ box, label: 'motion', score: 1 })),
      frame * FRAME_MS,
    )
    times['motion and tracking'].push(performance.now() - startedAt)
    for (const { box } of regions) {
      const from = performance.now()
      lookAt(plane, box)
      times['demonstration eye, each region'].push(performance.now() - from)
    }
  }
  const share = times['motion and tracking'].map((ms) => (ms * CAMERAS * FRAMES_PER_SECOND) / 10)
  return {
    'motion and tracking': distributionOf(times['motion and tracking']),
    [`percent of a core, ${CAMERAS} cameras, motion and tracking`]: distributionOf(share),
    'demonstration eye, each region': distributionOf(times['demonstration eye, each region']),
  }
}
