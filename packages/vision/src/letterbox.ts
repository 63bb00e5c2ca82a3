/**
 * Fitting a picture into the fixed input of a model, and its coordinates back. Scaled sides are whole pixels, so each
 * axis has a scale of its own; boxes are mapped with the drawn scale, not the ideal one.
 */
import type { Box } from './box.ts'
import { createRgbImage, type RgbImage, type Size } from './image.ts'
import { resampleRgb } from './resample.ts'

/** Keep the shape and fill right and below (`top-left`) or all around (`centre`); or stretch it (`stretch`). */
export type Fit = 'top-left' | 'centre' | 'stretch'

/** Where a source picture lies in a target, in pixels of the target. */
export type Letterbox = {
  readonly target: Size
  readonly left: number
  readonly top: number
  /** Size of the picture inside, at least one pixel each way. */
  readonly width: number
  readonly height: number
}

export function letterboxOf(source: Size, target: Size, fit: Fit): Letterbox {
  if (fit === 'stretch') return { target, left: 0, top: 0, width: target.width, height: target.height }
  const scale = Math.min(target.width / source.width, target.height / source.height)
  const width = Math.min(target.width, Math.max(1, Math.round(source.width * scale)))
  const height = Math.min(target.height, Math.max(1, Math.round(source.height * scale)))
  if (fit === 'top-left') return { target, left: 0, top: 0, width, height }
  return {
    target,
    left: Math.floor((target.width - width) / 2),
    top: Math.floor((target.height - height) / 2),
    width,
    height,
  }
}

/** A box in shares of the target, as one in shares of the source. Padding lies outside of 0 to 1. */
export function toSource(letterbox: Letterbox, box: Box): Box {
  const { target, left, top, width, height } = letterbox
  return {
    x: (box.x * target.width - left) / width,
    y: (box.y * target.height - top) / height,
    width: (box.width * target.width) / width,
    height: (box.height * target.height) / height,
  }
}

/** The opposite of `toSource`. */
export function toTarget(letterbox: Letterbox, box: Box): Box {
  const { target, left, top, width, height } = letterbox
  return {
    x: (left + box.x * width) / target.width,
    y: (top + box.y * height) / target.height,
    width: (box.width * width) / target.width,
    height: (box.height * height) / target.height,
  }
}

/** The source drawn into a target whose other pixels are `fill` grey; the source itself where it has that size. */
export function drawLetterboxed(source: RgbImage, letterbox: Letterbox, fill = 114): RgbImage {
  const { target, left, top, width, height } = letterbox
  if (source.width === target.width && source.height === target.height) return source
  const whole = { x: 0, y: 0, width: source.width, height: source.height }
  const scaled = resampleRgb(source, whole, width, height)
  if (width === target.width && height === target.height) return scaled
  const image = createRgbImage(target.width, target.height)
  image.data.fill(fill)
  for (let y = 0; y < height; y++)
    image.data.set(
      scaled.data.subarray(y * scaled.stride, (y + 1) * scaled.stride),
      (top + y) * image.stride + left * 3,
    )
  return image
}
