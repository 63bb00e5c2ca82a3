/** What stands still before a camera of the demo: sky, a wood, trees, a fence, grass and a track, from seeded noise. */
import { createRandom } from '@hedgerow/vision/rendered'
import { drawPhotograph, type Canvas, type Colour, type Photograph } from './demo-photographs.ts'

export type Ground = {
  seed: number
  /** By night the camera's own infrared light. */
  isInfrared?: boolean
  /** How soon the distance is lost in mist, from 0 on. */
  mist: number
}

/** In shares of the height, as all places here. */
export const HORIZON = 0.3

const HAZE: Colour = [182, 190, 196]
const SKY: Colour = [140, 164, 194]
const CLOUD: Colour = [222, 224, 226]
const GRASS: Colour = [92, 104, 58]
const DRY: Colour = [146, 136, 92]
const DEEP: Colour = [46, 58, 34]
const EARTH: Colour = [124, 108, 86]
const WOOD: Colour = [112, 102, 88]

const mixed = (a: Colour, b: Colour, share: number): Colour => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
]
const scaled = ([red, green, blue]: Colour, factor: number): Colour => [red * factor, green * factor, blue * factor]
const limited = (value: number) => Math.min(1, Math.max(0, value))
const depthOf = (y: number) => 1 / (Math.max(0, (y - HORIZON) / (1 - HORIZON)) + 0.04)

/** A colour as the camera gets it from where its foot is at `y`. */
export function hazed(colour: Colour, y: number, { mist, isInfrared }: Ground): Colour {
  return isInfrared ? colour : mixed(colour, HAZE, 1 - Math.exp(-mist * 0.3 * depthOf(y)))
}

/** Noise from 0 to 1 that changes over a distance of 1; `cloudy` is that of four sizes. */
function noiseOf(seed: number) {
  const base = Math.imul(seed, 0x9e3779b1)
  function at(x: number, y: number): number {
    let mix = Math.imul(x, 0x27d4eb2d) ^ Math.imul(y, 0x165667b1) ^ base
    mix = Math.imul(mix ^ (mix >>> 15), 0x85ebca6b)
    mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
    return ((mix ^ (mix >>> 16)) >>> 0) / 2 ** 32
  }
  function smooth(x: number, y: number): number {
    const left = Math.floor(x)
    const top = Math.floor(y)
    const right = (x - left) ** 2 * (3 - 2 * (x - left))
    const down = (y - top) ** 2 * (3 - 2 * (y - top))
    const upper = at(left, top) * (1 - right) + at(left + 1, top) * right
    const lower = at(left, top + 1) * (1 - right) + at(left + 1, top + 1) * right
    return upper * (1 - down) + lower * down
  }
  const cloudy = (x: number, y: number) =>
    0.5 * smooth(x, y) + 0.25 * smooth(2 * x, 2 * y) + 0.15 * smooth(4 * x, 4 * y) + 0.1 * smooth(8 * x, 8 * y)
  return { smooth, cloudy }
}

export function drawGround(ground: Ground, oak: Photograph, width: number, height: number): Canvas {
  const { seed, isInfrared = false } = ground
  const { smooth, cloudy } = noiseOf(seed)
  const random = createRandom(seed)
  const trackAt = random.between(-0.8, 0.8)
  const canvas: Canvas = { width, height, data: new Float32Array(width * height * 3) }

  function grassAt(x: number, y: number): Colour {
    const depth = depthOf(y)
    const across = (x - 0.5) * depth
    const near = limited(2.5 / depth)
    const blades = (smooth(across * 150, Math.log(depth) * 48) - 0.5) * near
    const tufts = cloudy(across * 9, depth * 14) - 0.5
    const dry = limited(cloudy(across * 1.3, depth * 1.7) * 2.4 - 0.8)
    const deep = limited((cloudy(across * 3 + 40, depth * 4) - 0.5) * 2)
    const fromTrack = Math.abs(across - trackAt - 0.5 * Math.sin(depth * 0.35))
    const earth = 0.75 * limited(1.5 - fromTrack * 7 + (tufts + blades) * 1.3)
    return scaled(mixed(mixed(mixed(GRASS, DRY, dry), DEEP, deep), EARTH, earth), 1 + 0.7 * tufts + 0.55 * blades)
  }

  function skyAt(x: number, y: number): Colour {
    if (isInfrared) return [0, 0, 0]
    const cloud = limited((cloudy(x * 3, y * 9) - 0.36) * 3)
    return mixed(mixed(SKY, HAZE, limited(y / HORIZON)), CLOUD, cloud * (1 - 0.5 * (y / HORIZON)))
  }

  for (let row = 0, at = 0; row < height; row++)
    for (let column = 0; column < width; column++, at += 3) {
      const [x, y] = [column / width, row / height]
      canvas.data.set(y < HORIZON ? skyAt(x, y) : hazed(grassAt(x, y), y, ground), at)
    }

  function drawTree(x: number, y: number, tall: number): void {
    const shade = random.between(0.6, 0.95)
    const colourOf = (colour: Colour) => hazed(scaled(mixed(colour, GRASS, 0.35), shade), y, ground)
    const isMirrored = random.next() < 0.5
    drawPhotograph(canvas, oak, { footX: x * width, footY: y * height, tall: tall * height, isMirrored, colourOf })
  }
  /** The edge of a wood, then single trees, the nearest last. */
  for (let tree = 0; tree < 70; tree++)
    drawTree(random.between(-0.02, 1.02), HORIZON + 0.02 + (tree / 70) * 0.02, random.between(0.07, 0.15))
  for (let tree = 0; tree < 4; tree++)
    drawTree((tree + random.between(0.1, 0.9)) / 4, HORIZON + 0.06 + tree * 0.015, random.between(0.16, 0.32))

  const foot = HORIZON + random.between(0.14, 0.18)
  const slope = random.between(-0.05, 0.05)
  for (let column = 0; column < width; column++) {
    const x = column / width
    const end = foot + slope * x
    const isPost = Math.abs(((x * 9.3) % 1) - 0.5) < 0.04
    for (let row = Math.floor((end - 0.085) * height); row < end * height; row++) {
      const isWire = [0.02, 0.045, 0.07].some((over) => Math.floor((end - over) * height) === row)
      if (!isPost && !isWire) continue
      const wood = scaled(WOOD, 0.6 + 0.5 * smooth(column * 0.7, row * 0.1) - (isPost ? 0 : 0.2))
      canvas.data.set(hazed(wood, end, ground), (row * width + column) * 3)
    }
  }
  return canvas
}
