/** A camera of the demo in a thread of its own, so that drawing takes nothing from the agents of the demo's process. */
import { parentPort, workerData } from 'node:worker_threads'
import { startDrawnCamera } from '../apps/gateway/testing/rendered-camera.ts'
import { openPlace, type Place } from './demo-places.ts'

/** A size for the detector, and no faster: a machine with two cores looks at five cameras. */
const [WIDTH, HEIGHT, FRAMES_PER_SECOND] = [640, 360, 3]

const place = workerData as Place
const draw = await openPlace(place, WIDTH, HEIGHT)
const camera = await startDrawnCamera((atMs) => ({ image: draw(atMs), truth: [] }), {
  durationMs: place.durationMs,
  framesPerSecond: FRAMES_PER_SECOND,
})
parentPort!.postMessage(camera.mjpegUrl)
