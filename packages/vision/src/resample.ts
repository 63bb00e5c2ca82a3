/**
 * Scaling by averaging: each pixel of the result is the mean of the area that it covers, at least one source pixel
 * wide. When shrinking, nothing is skipped; when enlarging, the mean over one pixel's width is linear interpolation.
 */
import { createPlane, createRgbImage, type Plane, type RgbImage } from './image.ts'

/** A rectangle in pixels of a picture, with fractions. Beyond the edges the outermost pixels repeat. */
export type PixelRectangle = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** `region` of `plane` as a plane of `width` x `height`. */
export function resamplePlane(plane: Plane, region: PixelRectangle, width: number, height: number): Plane {
  const result = createPlane(width, height)
  resample(plane, 1, region, result, 0)
  return result
}

/** `region` of `image` as a picture of `width` x `height`. */
export function resampleRgb(image: RgbImage, region: PixelRectangle, width: number, height: number): RgbImage {
  const result = createRgbImage(width, height)
  for (let channel = 0; channel < 3; channel++) resample(image, 3, region, result, channel)
  return result
}

/** One channel, first along the rows that are needed, then down the columns. */
function resample(source: Plane, step: number, region: PixelRectangle, result: Plane, channel: number): void {
  const across = windows(region.x, region.width, result.width, source.width)
  const down = windows(region.y, region.height, result.height, source.height)
  const top = down.firstIndex
  const rows = down.lastIndex - top + 1
  const narrowed = new Float32Array(rows * result.width)
  for (let row = 0; row < rows; row++) {
    const begin = (top + row) * source.stride + channel
    for (let x = 0, at = 0; x < result.width; x++) {
      let sum = 0
      for (const end = across.ends[x]!; at < end; at++)
        sum += source.data[begin + across.indices[at]! * step]! * across.weights[at]!
      narrowed[row * result.width + x] = sum
    }
  }
  for (let y = 0, from = 0; y < result.height; y++) {
    const end = down.ends[y]!
    for (let x = 0; x < result.width; x++) {
      let sum = 0.5
      for (let at = from; at < end; at++)
        sum += narrowed[(down.indices[at]! - top) * result.width + x]! * down.weights[at]!
      result.data[y * result.stride + x * step + channel] = sum
    }
    from = end
  }
}

type Windows = {
  /** Source indices and their weights, those of one result pixel after those of the one before. */
  indices: number[]
  weights: number[]
  /** Where the entries of each result pixel end. */
  ends: number[]
  firstIndex: number
  lastIndex: number
}

function windows(start: number, length: number, count: number, sourceLength: number): Windows {
  const scale = length / count
  const width = Math.max(1, scale)
  const indices: number[] = []
  const weights: number[] = []
  const ends: number[] = []
  for (let i = 0; i < count; i++) {
    const begin = start + (i + 0.5) * scale - width / 2
    for (let index = Math.floor(begin); index < begin + width; index++) {
      const covered = Math.min(index + 1, begin + width) - Math.max(index, begin)
      if (covered <= 0) continue
      indices.push(Math.min(sourceLength - 1, Math.max(0, index)))
      weights.push(covered / width)
    }
    ends.push(indices.length)
  }
  return { indices, weights, ends, firstIndex: indices[0]!, lastIndex: indices.at(-1)! }
}
