/**
 * The verifier's features of a detection: the shape of its crop (HOG), its colours in the middle and around, how it
 * moved, how sure the detector was, the hour, the place and the size.
 */
import { centreOf, type Box } from '../box.ts'
import { HOG_FEATURES, HOG_PIXELS, hogOf } from '../hog.ts'
import { lumaOf, type RgbImage } from '../image.ts'
import { resampleRgb } from '../resample.ts'

/** Side of the crop in pixels. */
export const CROP_PIXELS = HOG_PIXELS

export type Glance = {
  /** 64 x 64 pixels, as `cropOf` makes it. */
  readonly crop: RgbImage
  /** The box in the camera's picture, if it is known. */
  readonly box: Box | undefined
  /** The detector's score, 0 to 1. */
  readonly score: number
  /** The time of day at the camera, 0 to 24. */
  readonly hour: number
  /** How long it has been in the picture so far. */
  readonly seconds: number
  /** How far its box went from where it was first, in lengths of that box. */
  readonly travel: number
}

/** A grid of places, so that a classifier of sums can single one out. */
const GRID = 6
const COLOURS = 14
const HOURS = 4
const REST = 3 + 4 + 1
/** The length of `verifierFeatures`' result. */
export const VERIFIER_FEATURES = HOG_FEATURES + COLOURS + HOURS + GRID * GRID + REST

const INNER_FROM = CROP_PIXELS / 4
const INNER_TO = CROP_PIXELS - INNER_FROM

/**
 * The square in the middle of a picture of the object, or around `box` in a whole picture, as 64 x 64 pixels. The same
 * for training and for use, so it does not have to be exact.
 */
export function cropOf(image: RgbImage, box?: Box): RgbImage {
  const { width, height } = image
  const side = box ? 1.3 * Math.max(box.width * width, box.height * height) : Math.min(width, height)
  const middle = box ? centreOf(box) : { x: 0.5, y: 0.5 }
  const region = { x: middle.x * width - side / 2, y: middle.y * height - side / 2, width: side, height: side }
  return resampleRgb(image, region, CROP_PIXELS, CROP_PIXELS)
}

export function verifierFeatures(glance: Glance, into = new Float32Array(VERIFIER_FEATURES)): Float32Array {
  const { crop, box, score, hour, seconds, travel } = glance
  hogOf(lumaOf(crop), into.subarray(0, HOG_FEATURES))
  let at = HOG_FEATURES
  for (const value of coloursOf(crop)) into[at++] = value
  for (const turns of [1, 2])
    for (const wave of [Math.sin, Math.cos]) into[at++] = 0.5 * wave((2 * Math.PI * turns * hour) / 24)
  if (box) voteForPlace(centreOf(box), into.subarray(at, at + GRID * GRID))
  else into.fill(0, at, at + GRID * GRID)
  at += GRID * GRID
  into[at++] = 2 * (score - 0.5)
  into[at++] = Math.min(1, Math.log1p(Math.max(0, seconds)) / 5)
  into[at++] = Math.min(1, Math.log1p(Math.max(0, travel)) / 3)
  const { width, height } = box ?? { width: 0, height: 0 }
  into[at++] = box ? 1 : 0
  into[at++] = Math.sqrt(width)
  into[at++] = Math.sqrt(height)
  into[at++] = Math.min(2, width / Math.max(0.01, height)) / 2
  into[at] = box ? box.y + height : 0
  return into
}

/** Mean and deviation of luma, of blueness and of redness, in the middle and around it; and what is almost white. */
function coloursOf(crop: RgbImage): Float32Array {
  const inner = new Float64Array(8)
  const outer = new Float64Array(8)
  const { data, stride } = crop
  for (let y = 0; y < CROP_PIXELS; y++)
    for (let x = 0; x < CROP_PIXELS; x++) {
      const byte = y * stride + 3 * x
      const red = data[byte]!
      const blue = data[byte + 2]!
      const luma = (0.299 * red + 0.587 * data[byte + 1]! + 0.114 * blue) / 255
      const isInner = x >= INNER_FROM && x < INNER_TO && y >= INNER_FROM && y < INNER_TO
      const sums = isInner ? inner : outer
      addValue(sums, 0, luma)
      addValue(sums, 2, blue / 255 - luma)
      addValue(sums, 4, red / 255 - luma)
      if (luma > 0.9) sums[6]! += 1
      sums[7]! += 1
    }
  const result = new Float32Array(COLOURS)
  for (const [index, sums] of [inner, outer].entries()) {
    const count = sums[7]!
    const to = index * 7
    for (let i = 0; i < 6; i += 2) {
      const mean = sums[i]! / count
      result[to + i] = 2 * mean
      result[to + i + 1] = 4 * Math.sqrt(Math.max(0, sums[i + 1]! / count - mean * mean))
    }
    result[to + 6] = sums[6]! / count
  }
  return result
}

function addValue(sums: Float64Array, at: number, value: number): void {
  sums[at]! += value
  sums[at + 1]! += value * value
}

/** Votes for the four nearest cells. */
function voteForPlace({ x, y }: { x: number; y: number }, grid: Float32Array): void {
  grid.fill(0)
  const [across, down] = [x * GRID - 0.5, y * GRID - 0.5]
  const [left, top] = [Math.floor(across), Math.floor(down)]
  for (const row of [top, top + 1])
    for (const column of [left, left + 1]) {
      const share = (1 - Math.abs(across - column)) * (1 - Math.abs(down - row))
      const cell = clampTo(row) * GRID + clampTo(column)
      grid[cell]! += share
    }
}

function clampTo(index: number): number {
  return Math.min(GRID - 1, Math.max(0, index))
}
