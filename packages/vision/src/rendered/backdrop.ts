/** The static part of a rendered scene: sky, a hedge, a meadow, posts, all of seeded noise. */
import { createRgbImage, type RgbImage } from '../image.ts'
import { createRandom } from './random.ts'

export type Daylight = 'day' | 'night'

type Colour = readonly [red: number, green: number, blue: number]
const SKY: Colour = [168, 190, 214]
const HEDGE: Colour = [46, 66, 38]
const MEADOW: Colour = [104, 122, 66]
const POST: Colour = [96, 76, 58]
/** Where the hedge begins and ends, in shares of the height. */
const HEDGE_TOP = 0.14
const HEDGE_BOTTOM = 0.34

/** Seeded noise between -1 and 1 that changes over about `cell` pixels. */
function valueNoise(seed: number, width: number, height: number, cell: number): Float32Array {
  const random = createRandom(seed)
  const columns = Math.ceil(width / cell) + 2
  const corners = Float32Array.from({ length: columns * (Math.ceil(height / cell) + 2) }, () => random.between(-1, 1))
  const left = Int32Array.from({ length: width }, (_, x) => Math.floor(x / cell))
  const right = Float64Array.from(left, (column, x) => x / cell - column)
  const noise = new Float32Array(width * height)
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / cell)
    const down = y / cell - row
    for (let x = 0; x < width; x++, at++) {
      const share = right[x]!
      const corner = row * columns + left[x]!
      const upper = corners[corner]! * (1 - share) + corners[corner + 1]! * share
      const lower = corners[corner + columns]! * (1 - share) + corners[corner + columns + 1]! * share
      noise[at] = upper * (1 - down) + lower * down
    }
  }
  return noise
}

/** How far each pixel is from the middle of the infrared light, in shares of the picture. */
function reachOf(width: number, height: number): Float64Array {
  const { reach } = lastReach
  if (lastReach.width === width && reach.length === width * height) return reach
  const made = new Float64Array(width * height)
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at++) made[at] = Math.hypot(x / width - 0.5, y / height - 0.6)
  lastReach = { width, reach: made }
  return made
}
/** Whoever draws many scenes draws them in one size. */
let lastReach = { width: 0, reach: new Float64Array() }

/** By night the camera's own infrared light: grey, and darker away from the middle. */
export function drawBackdrop(seed: number, width: number, height: number, daylight: Daylight): RgbImage {
  const image = createRgbImage(width, height)
  const { data } = image
  const coarse = valueNoise(seed, width, height, Math.max(2, width / 12))
  const fine = valueNoise(seed + 1, width, height, Math.max(2, width / 90))
  const random = createRandom(seed + 2)
  const posts = Array.from({ length: 4 }, (_, i) => ((i + random.between(0.2, 0.8)) / 4) * width)
  const postWidth = Math.max(1.5, width / 160)
  const hasPost = Uint8Array.from({ length: width }, (_, x) =>
    Number(posts.some((post) => Math.abs(x - post) < postWidth)),
  )
  const reach = daylight === 'night' ? reachOf(width, height) : undefined
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at++) {
      const level = y / height + 0.02 * coarse[at]!
      const isSky = level < HEDGE_TOP
      const isPost = hasPost[x] === 1 && level > HEDGE_TOP && level < HEDGE_BOTTOM + 0.06
      const colour = isPost ? POST : isSky ? SKY : level < HEDGE_BOTTOM ? HEDGE : MEADOW
      const texture = isSky ? 0.03 : 0.16
      const factor = 1 + texture * (coarse[at]! * 0.8 + fine[at]!)
      const byte = at * 3
      if (!reach) {
        for (let channel = 0; channel < 3; channel++) data[byte + channel] = colour[channel]! * factor
        continue
      }
      const luma = isSky ? 8 : (colour[0] + 2 * colour[1] + colour[2]) / 4
      const grey = Math.min(255, 4 + luma * factor * Math.max(0.25, 0.85 - 0.8 * reach[at]!))
      data[byte] = grey
      data[byte + 1] = grey
      data[byte + 2] = grey
    }
  return image
}
