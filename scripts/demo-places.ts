/**
 * The places of the demo's cameras where a detector looks: photographs of animals and of a person walk through drawn
 * ground, so that a detector of real pictures names them.
 */
import { createRgbImage, type RgbImage } from '@hedgerow/vision'
import { createRandom } from '@hedgerow/vision/rendered'
import { drawGround, hazed, HORIZON, type Ground } from './demo-ground.ts'
import { blend, drawPhotograph, readPhotograph, type Colour, type Photograph } from './demo-photographs.ts'

/** Two photographs are the two halves of a stride; of one, the legs are bent. */
const WALKERS = {
  cow: { files: ['cow'], looksLeft: false },
  horse: { files: ['horse'], looksLeft: false },
  sheep: { files: ['ram'], looksLeft: true },
  person: { files: ['person-stride', 'person-stand'], looksLeft: true },
} as const
/** The person's suit is silver. */
const CLOTHES: Colour = [0.62, 0.6, 0.52]

type Walk = {
  walker: keyof typeof WALKERS
  /** Where the feet are, in shares of the picture; values outside are allowed. */
  from: readonly [x: number, y: number]
  to: readonly [x: number, y: number]
  startMs: number
  endMs: number
  /** Share of the picture's height, if the feet were at its lower edge. */
  height: number
}

export type Place = Ground & {
  durationMs: number
  /** Streaks in each picture. */
  rain?: number
  walks: readonly Walk[]
}

const STRIDE_MS = 1_100
const NOISE_VALUES = 1 << 16

/** Returns what draws the place at a time; the bytes of a picture are overwritten by the next. */
export async function openPlace(place: Place, width: number, height: number): Promise<(atMs: number) => RgbImage> {
  const { seed, isInfrared = false, rain = 0, walks } = place
  const photographs = new Map<string, Photograph>()
  for (const { walker } of walks)
    for (const file of WALKERS[walker].files) photographs.set(file, await readPhotograph(file))
  const ground = drawGround(place, await readPhotograph('oak'), width, height)
  const light = lightOf(width, height, isInfrared)
  const random = createRandom(seed + 3)
  const grain = Float32Array.from({ length: NOISE_VALUES }, () => random.normal() * (isInfrared ? 5 : 2.5))
  const image = createRgbImage(width, height)
  const pixels = new Uint8ClampedArray(image.data.buffer)
  const scene = { ...ground, data: new Float32Array(ground.data.length) }

  function drawWalk({ walker, from, to, startMs, endMs, height: share }: Walk, atMs: number): void {
    if (atMs < startMs || atMs > endMs) return
    const progress = (atMs - startMs) / (endMs - startMs)
    const footX = (from[0] + (to[0] - from[0]) * progress) * width
    const y = from[1] + (to[1] - from[1]) * progress
    const { files, looksLeft } = WALKERS[walker]
    const photograph = photographs.get(files[Math.floor((2 * atMs) / STRIDE_MS) % files.length]!)!
    const tall = (share * height * (y - HORIZON)) / (1 - HORIZON)
    const stride = (2 * Math.PI * atMs) / STRIDE_MS
    drawShadow(footX, y * height, (tall * photograph.width) / photograph.height, tall)
    drawPhotograph(scene, photograph, {
      footX,
      footY: y * height + 0.012 * tall * Math.sin(2 * stride),
      tall,
      isMirrored: to[0] < from[0] !== looksLeft,
      colourOf: (colour) => hazed(walker === 'person' ? worn(colour) : colour, y, place),
      ...(files.length === 1 && {
        bend: (u, v) => 0.09 * Math.max(0, v - 0.6) * Math.sin(stride + 2 * Math.PI * 3 * u),
      }),
    })
  }

  function drawShadow(footX: number, footY: number, wide: number, tall: number): void {
    const [reach, flat] = [wide * 0.6, tall * 0.1]
    for (let y = Math.floor(footY - 2 * flat); y < footY + flat; y++)
      for (let x = Math.floor(footX - reach); x < footX + reach; x++) {
        const off = ((x - footX) / reach) ** 2 + ((y - footY + flat / 2) / flat) ** 2
        if (off < 1) blend(scene, x, y, (isInfrared ? 0.25 : 0.5) * (1 - off), [18, 22, 14])
      }
  }

  function drawRain(atMs: number): void {
    const drops = createRandom(seed * 31 + Math.round(atMs))
    for (let drop = 0; drop < rain; drop++) {
      const [left, top, long] = [drops.between(0, width), drops.between(-0.1, 1) * height, drops.between(4, 16)]
      for (let step = 0; step < long; step++)
        blend(scene, Math.floor(left + step * 0.15), Math.floor(top + step), 0.22, [190, 195, 200])
    }
  }

  return (atMs) => {
    scene.data.set(ground.data)
    for (const walk of walks) drawWalk(walk, atMs)
    if (rain > 0) drawRain(atMs)
    const shift = createRandom(seed * 17 + Math.round(atMs))
    for (let y = 0, at = 0; y < height; y++) {
      let noise = Math.floor(shift.next() * NOISE_VALUES)
      for (let x = 0; x < width; x++, at++) {
        const step = grain[noise++ & (NOISE_VALUES - 1)]!
        const byte = at * 3
        const [red, green, blue] = [scene.data[byte]!, scene.data[byte + 1]!, scene.data[byte + 2]!]
        // Leaves, fur and cloth give infrared light back.
        const grey = 12 + 0.3 * (red + 2 * green + blue)
        pixels[byte] = (isInfrared ? grey : red) * light[at]! + step
        pixels[byte + 1] = (isInfrared ? grey : green) * light[at]! + step
        pixels[byte + 2] = (isInfrared ? grey : blue) * light[at]! + step
      }
    }
    return image
  }
}

const worn = ([red, green, blue]: Colour): Colour => [red * CLOTHES[0], green * CLOTHES[1], blue * CLOTHES[2]]

/** How much light each pixel gets: a lens is darker at its edge, and a lamp reaches only so far. */
function lightOf(width: number, height: number, isInfrared: boolean): Float32Array {
  return Float32Array.from({ length: width * height }, (_, at) => {
    const [x, y] = [(at % width) / width - 0.5, Math.floor(at / width) / height]
    const lens = 1 - 0.55 * (x ** 2 + (y - 0.5) ** 2)
    return isInfrared ? lens * (0.16 + 0.95 * Math.exp(-4 * x ** 2 - 3.5 * (y - 0.7) ** 2)) : lens
  })
}
