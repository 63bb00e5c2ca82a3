/**
 * What a camera looks at, in small, and how much of it is in another picture. Compared is what light changes least: by
 * how much each place is brighter than what is around it (normalized correlation of a high-passed logarithm). How sharp
 * a picture is: how steep its strongest edges are for their height.
 */
import type { Plane, RgbImage } from './image.ts'
import { resamplePlane } from './resample.ts'

export type View = {
  /** For each of 48 x 32 places, by how many percent it is brighter than its surroundings. */
  readonly detail: Int8Array
  /** The mean of the logarithm of luma. */
  readonly light: number
  /** Nothing in it is lit. */
  readonly isDark: boolean
  /** Whether it has no colours, as in infrared light. */
  readonly isGrey: boolean
  /** At two sizes: noise hides a strong blur at the larger one. */
  readonly sharpness: readonly number[]
}

export type ViewMatch = {
  /** How many of the 24 tiles usually show something; too few tell nothing. */
  readonly telling: number
  /** Shares of these: those that show nothing now, and those that show something else. */
  readonly flat: number
  readonly other: number
}

const COLUMNS = 48
const ROWS = 32
const TILE = 8
const TILES = (COLUMNS * ROWS) / TILE ** 2
export const VIEW_PLACES = COLUMNS * ROWS
/** Half the side of a place's surroundings. */
const AROUND = 3
const DARK_LEVEL = 10
/** Of a dark picture all but the lightest places are darker. */
const DARK = 24
const LIT = 0.95
/** Root mean squares of detail: of a tile that shows something, and of one that shows nothing. */
const TELLING = 4
const FLAT = 2
/** From this correlation on, a tile shows what it usually does. */
const ALIKE = 0.5
/** A picture has fewer levels of colour in infrared light. */
const GREY_LEVELS = 4
const SAMPLE = 997
const SHARP_AT = [
  { width: 320, height: 180 },
  { width: 160, height: 90 },
] as const
/** Two places of an edge, in pixels of the half picture. */
const APART = 4
/** The strongest edges: this share of all pixels. */
const STRONGEST = 0.02

export function viewOf(luma: Plane, image: RgbImage): View {
  const whole = { x: 0, y: 0, width: luma.width, height: luma.height }
  const small = resamplePlane(luma, whole, COLUMNS, ROWS)
  const logarithms = Float32Array.from(small.data, (level) => Math.log(level + DARK_LEVEL))
  const detail = new Int8Array(VIEW_PLACES)
  let light = 0
  for (let y = 0, at = 0; y < ROWS; y++)
    for (let x = 0; x < COLUMNS; x++, at++) {
      const [top, bottom] = [Math.max(0, y - AROUND), Math.min(ROWS - 1, y + AROUND)]
      const [left, right] = [Math.max(0, x - AROUND), Math.min(COLUMNS - 1, x + AROUND)]
      let sum = 0
      for (let row = top; row <= bottom; row++)
        for (let column = left; column <= right; column++) sum += logarithms[row * COLUMNS + column]!
      const mean = sum / ((bottom - top + 1) * (right - left + 1))
      detail[at] = Math.max(-127, Math.min(127, Math.round(100 * (logarithms[at]! - mean))))
      light += logarithms[at]! / VIEW_PLACES
    }
  const sharpness = SHARP_AT.map(({ width, height }) => sharpnessOf(resamplePlane(luma, whole, width, height)))
  const isDark = small.data.toSorted()[Math.floor(LIT * VIEW_PLACES)]! < DARK
  return { detail, light, isDark, isGrey: isGrey(image), sharpness }
}

export function matchOf(now: Pick<View, 'detail'>, usual: { readonly detail: ArrayLike<number> }): ViewMatch {
  let [telling, flat, other] = [0, 0, 0]
  for (let tile = 0; tile < TILES; tile++) {
    const first = Math.floor(tile / (COLUMNS / TILE)) * TILE * COLUMNS + (tile % (COLUMNS / TILE)) * TILE
    let [both, ofNow, ofUsual] = [0, 0, 0]
    for (let y = 0; y < TILE; y++)
      for (let at = first + y * COLUMNS, end = at + TILE; at < end; at++) {
        const [a, b] = [now.detail[at]!, usual.detail[at]!]
        both += a * b
        ofNow += a * a
        ofUsual += b * b
      }
    if (ofUsual < TELLING ** 2 * TILE ** 2) continue
    telling++
    if (ofNow > 0 && both / Math.sqrt(ofNow * ofUsual) > ALIKE) continue
    if (ofNow < FLAT ** 2 * TILE ** 2) flat++
    else other++
  }
  return { telling, flat: flat / Math.max(1, telling), other: other / Math.max(1, telling) }
}

function isGrey({ width, height, stride, data }: RgbImage): boolean {
  let difference = 0
  let count = 0
  for (let pixel = 0; pixel < width * height; pixel += SAMPLE, count++) {
    const at = Math.floor(pixel / width) * stride + (pixel % width) * 3
    difference += Math.abs(data[at]! - data[at + 1]!) + Math.abs(data[at + 1]! - data[at + 2]!)
  }
  return difference / count < GREY_LEVELS
}

/** A blur of width s makes the second derivative of an edge 1/s² of its height, which a weaker light or mist is not. */
function sharpnessOf({ width, height, data }: Plane): number {
  const bends = new Uint32Array(1_024)
  const heights = new Uint32Array(1_024)
  let count = 0
  for (let y = APART; y < height - APART; y++)
    for (let x = APART, at = y * width + x; x < width - APART; x++, at++, count++) {
      const bend = 4 * data[at]! - data[at - 1]! - data[at + 1]! - data[at - width]! - data[at + width]!
      const across = data[at + APART]! - data[at - APART]!
      const down = data[at + APART * width]! - data[at - APART * width]!
      bends[Math.abs(bend)]!++
      heights[Math.abs(across) + Math.abs(down)]!++
    }
  return strongest(bends, count) / Math.max(1, strongest(heights, count))
}

function strongest(histogram: Uint32Array, count: number): number {
  let level = histogram.length - 1
  for (let above = histogram[level]!; above < STRONGEST * count && level > 0; above += histogram[level]!) level--
  return level
}
