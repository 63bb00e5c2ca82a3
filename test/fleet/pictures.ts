import { createRenderer, scenes, type RenderedLabel } from '@hedgerow/vision/rendered'
import { encodeJpeg } from '../../apps/gateway/src/cameras/decode.ts'

/** A JPEG of a figure that a camera of the fleet saw, and the same picture in the form of a detection. */
export type Picture = { label: RenderedLabel; jpeg: Buffer; base64: string }

const WIDTH = 480
const HEIGHT = 270
const MOMENTS = [0.35, 0.5, 0.65]

let drawn: Promise<readonly Picture[]> | undefined

/** Drawn once for the whole process: rendered scenes at moments with a figure in the picture. */
export const fleetPictures = () => (drawn ??= drawPictures())

async function drawPictures(): Promise<readonly Picture[]> {
  const pictures: Picture[] = []
  for (const scene of scenes) {
    const [actor] = scene.actors
    if (!actor) continue
    const renderer = createRenderer(scene, WIDTH, HEIGHT)
    for (const moment of MOMENTS) {
      const { image } = renderer.render(actor.startMs + moment * (actor.endMs - actor.startMs))
      const jpeg = await encodeJpeg(image, { quality: 70 })
      pictures.push({ label: actor.label, jpeg, base64: jpeg.toString('base64') })
    }
  }
  return pictures
}
