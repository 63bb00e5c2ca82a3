/** A camera over which somebody hung a grey cloth, at a gateway that knows its usual picture. */
import { createRgbImage, lumaOf } from '@hedgerow/vision'
import { createRenderer } from '@hedgerow/vision/rendered'
import { pino } from 'pino'
import { openView } from '../src/cameras/views.ts'
import { startDrawnCamera, type RenderedCamera } from './rendered-camera.ts'

const SIZE = { width: 640, height: 360 }
const CLOTH = 110
const APART_MS = 10_000
const USUAL_PICTURES = 6

/** The cloth, with the noise of the sensor. */
export function startCoveredCamera(): Promise<RenderedCamera> {
  let noise = 1
  function draw() {
    const image = createRgbImage(SIZE.width, SIZE.height)
    for (let at = 0; at < image.data.length; at++) {
      noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) >>> 0
      image.data[at] = CLOTH + (noise >>> 29) - 4
    }
    return { image, luma: lumaOf(image), truth: [] }
  }
  return startDrawnCamera(draw, { durationMs: 10_000, framesPerSecond: 1 })
}

/** What the camera saw before: a yard by day. */
export async function rememberYard(dataDir: string, camera: { name: string; address: string }): Promise<void> {
  const scene = { name: 'a yard', seed: 12, daylight: 'day', durationMs: 1_000, actors: [] } as const
  const { image } = createRenderer(scene, SIZE.width, SIZE.height).render(0)
  let atMs = 0
  const clock = () => Date.now() - (USUAL_PICTURES + 1) * APART_MS + atMs
  const view = await openView(camera, { dataDir, clock, log: pino({ level: 'silent' }) })
  for (; atMs < USUAL_PICTURES * APART_MS; atMs += APART_MS) view.see({ image, luma: lumaOf(image), atMs })
  await view.stop()
}
