import { clipToPicture } from '../box.ts'
import type { RgbImage } from '../image.ts'
import { toSource, type Letterbox } from '../letterbox.ts'
import { suppressNonMaxima, type Candidate } from '../non-maximum-suppression.ts'
import { detr, rfDetr } from './detr.ts'
import type { Layout } from './layout.ts'
import type { Tensor } from './tensor.ts'
import { yolov5, yolov8 } from './yolo.ts'
import { yolox } from './yolox.ts'

/** Every layout that a model's manifest may name. */
export const layouts = { yolox, detr, 'rf-detr': rfDetr, yolov5, yolov8 } satisfies Record<string, Layout>
export type LayoutName = keyof typeof layouts

/** A picture as a model takes it: `[1, 3, height, width]`. */
export function toTensor(image: RgbImage, { channels, normalise }: Layout): Tensor {
  const { width, height, stride, data } = image
  const pixels = width * height
  const values = new Float32Array(3 * pixels)
  for (let plane = 0; plane < 3; plane++) {
    const channel = channels === 'rgb' ? plane : 2 - plane
    const factor = normalise ? 1 / 255 / normalise.deviation[channel]! : 1
    const offset = normalise ? normalise.mean[channel]! / normalise.deviation[channel]! : 0
    for (let y = 0, to = plane * pixels; y < height; y++)
      for (let from = y * stride + channel, x = 0; x < width; x++, from += 3)
        values[to++] = data[from]! * factor - offset
  }
  return { data: values, shape: [1, 3, height, width] }
}

/** No picture has more objects; the candidates with the highest scores are used. */
const MOST_CANDIDATES = 500

/**
 * The objects that a model found, boxes in shares of the source picture, the highest score first. Throws LayoutError
 * when the outputs are not those of the layout.
 */
export function readOutputs(
  layout: Layout,
  outputs: readonly Tensor[],
  letterbox: Letterbox,
  leastScore: number,
): Candidate[] {
  const candidates = layout.decode(outputs, letterbox.target, leastScore)
  const surest = candidates.toSorted((a, b) => b.score - a.score).slice(0, MOST_CANDIDATES)
  const single = layout.repeats ? suppressNonMaxima(surest) : surest
  return single.flatMap((candidate) => {
    const box = clipToPicture(toSource(letterbox, candidate.box))
    return box.width > 0 && box.height > 0 ? [{ ...candidate, box }] : []
  })
}
