/**
 * Rendered scenes: pictures as a camera would send them, with the true objects in them. The same scene gives the same
 * picture for the same time, whichever was asked for before. For tests, benches and the demo.
 */
import { clipToPicture, type Box } from '../box.ts'
import type { RgbImage } from '../image.ts'
import { drawBackdrop, type Daylight } from './backdrop.ts'
import { ellipse, fill, limb, mapFigure } from './outline.ts'
import { createRandom } from './random.ts'
import { silhouetteOf, type Individual, type RenderedLabel } from './silhouettes.ts'

/** A figure that walks through the picture on a straight line. */
export type Actor = Individual & {
  /** Where the feet are at the beginning and at the end, in shares of the picture; values outside are allowed. */
  readonly from: readonly [x: number, y: number]
  readonly to: readonly [x: number, y: number]
  readonly startMs: number
  readonly endMs: number
  /** In shares of the picture's height. */
  readonly height: number
}

export type Scene = {
  readonly name: string
  readonly seed: number
  readonly daylight: Daylight
  readonly actors: readonly Actor[]
  readonly durationMs: number
  /** Deviation of the sensor's noise in grey levels. */
  readonly noise?: number
  /** Streaks of rain in each picture. */
  readonly rain?: number
  /** A branch that swings by this share of the picture's width. */
  readonly branch?: number
  /** A flag that waves by this share of its height. */
  readonly flag?: number
  /** A car's headlights sweep over the scene at these times. */
  readonly headlightsMs?: readonly number[]
  /** Clouds change the light by up to this share, over some seconds. */
  readonly clouds?: number
  /** At this time the light is switched: everything is brighter by this factor. */
  readonly lightSwitch?: { readonly atMs: number; readonly factor: number }
}

/** A figure in a picture, and its place. */
export type Truth = {
  readonly actor: number
  readonly label: RenderedLabel
  /** The part inside the picture. */
  readonly box: Box
  /** Share of the whole figure's box that is inside the picture, above 0. */
  readonly visible: number
}

export type RenderedFrame = { readonly image: RgbImage; readonly truth: readonly Truth[] }

export type SceneRenderer = {
  /** The picture at a time. Its bytes are overwritten by the next call. */
  render(atMs: number): RenderedFrame
}

const COATS: Record<RenderedLabel, readonly [number, number, number]> = {
  boar: [52, 44, 40],
  cat: [70, 68, 70],
  deer: [150, 104, 64],
  fox: [186, 92, 40],
  person: [48, 58, 96],
}
/** Fur and cloth reflect more infrared light than grass. */
const NIGHT_COATS: Record<RenderedLabel, number> = { boar: 118, cat: 150, deer: 140, fox: 160, person: 170 }
const STRIDE_MS = 900
const HEADLIGHTS_MS = 3_000
const RAIN = 58
const FLAG_PARTS = 6
const NOISE_VALUES = 1 << 16

export function createRenderer(scene: Scene, width: number, height: number): SceneRenderer {
  const backdrop = drawBackdrop(scene.seed, width, height, scene.daylight)
  const image: RgbImage = { ...backdrop, data: new Uint8Array(backdrop.data.length) }
  /** The same bytes: what is written here is cut to 0 to 255. */
  const clamped = new Uint8ClampedArray(image.data.buffer)
  const light = new Float32Array(width * height)
  const deviation = scene.noise ?? (scene.daylight === 'night' ? 6 : 3)
  const noise = noiseTable(scene.seed, deviation)
  const leaves = leavesOf(scene.seed)

  function blend(
    x: number,
    y: number,
    share: number,
    colour: readonly [number, number, number],
    texture: number,
  ): void {
    const at = y * image.stride + x * 3
    const { data } = image
    data[at]! += (colour[0] * texture - data[at]!) * share
    data[at + 1]! += (colour[1] * texture - data[at + 1]!) * share
    data[at + 2]! += (colour[2] * texture - data[at + 2]!) * share
  }

  function drawActor(actor: Actor, index: number, atMs: number): Truth | undefined {
    if (atMs < actor.startMs || atMs > actor.endMs) return undefined
    const progress = (atMs - actor.startMs) / (actor.endMs - actor.startMs)
    const footX = (actor.from[0] + (actor.to[0] - actor.from[0]) * progress) * width
    const footY = (actor.from[1] + (actor.to[1] - actor.from[1]) * progress) * height
    const fitted = silhouetteOf(actor, (2 * Math.PI * atMs) / STRIDE_MS)
    const scale = actor.height * height
    const direction = actor.to[0] < actor.from[0] ? -1 : 1
    const placed = mapFigure(fitted.figure, (x, y) => [
      footX + direction * (x - fitted.width / 2) * scale,
      footY + (y - 1) * scale,
    ])
    if (scene.daylight === 'day') {
      const shadow = [ellipse(footX, footY, (fitted.width * scale) / 2.2, scale * 0.05)]
      fill(shadow, width, height, (x, y, share) => blend(x, y, share * 0.35, [0, 0, 0], 1))
    }
    const grey = NIGHT_COATS[actor.label]
    const colour = scene.daylight === 'day' ? COATS[actor.label] : ([grey, grey, grey] as const)
    const coat = createRandom(actor.seed ^ 0x5eed).between(0.85, 1.15)
    fill(placed, width, height, (x, y, share) => {
      // The coat belongs to the animal: its pattern moves with it.
      const across = Math.floor((x - footX) / 3)
      const down = Math.floor((y - footY) / 3)
      blend(x, y, share, colour, coat * (1 + 0.12 * noise.unit[(across * 131 + down * 7919) & (NOISE_VALUES - 1)]!))
    })
    const whole: Box = {
      x: (footX - (fitted.width * scale) / 2) / width,
      y: (footY - scale) / height,
      width: (fitted.width * scale) / width,
      height: scale / height,
    }
    const box = clipToPicture(whole)
    const visible = (box.width * box.height) / (whole.width * whole.height)
    return visible > 0 ? { actor: index, label: actor.label, box, visible } : undefined
  }

  function drawBranch(swing: number, atMs: number): void {
    const sway = swing * (Math.sin(atMs / 520) + 0.5 * Math.sin(atMs / 310 + 1))
    for (const leaf of leaves) {
      const x = (0.82 + leaf.x * 0.3 + sway * (1.2 - leaf.x)) * width
      const y = (leaf.y * 0.4 + 0.3 * sway * leaf.x) * height
      const length = leaf.length * width
      const figure = [limb(x, y, length * 0.22, x + length * leaf.cos, y + length * leaf.sin, length * 0.1)]
      const shade = scene.daylight === 'day' ? ([38, 58, 30] as const) : ([95, 95, 95] as const)
      fill(figure, width, height, (px, py, share) => blend(px, py, share, shade, leaf.shade))
    }
  }

  /** Cloth on a pole at the edge of the meadow, its place and colour by the seed. */
  function drawFlag(swing: number, atMs: number): void {
    const random = createRandom(scene.seed + 9)
    const [poleX, top, length, high] = [
      random.between(0.15, 0.75) * width,
      random.between(0.3, 0.55) * height,
      random.between(0.1, 0.2) * height,
      random.between(0.04, 0.09) * height,
    ]
    const grey = random.between(120, 200)
    const cloth = [grey, scene.daylight === 'day' ? random.between(20, 80) : grey, grey / 2] as const
    const shade = scene.daylight === 'day' ? cloth : ([grey, grey, grey] as const)
    const pole = limb(poleX, top - high, height * 0.006, poleX, top + 0.3 * height, height * 0.006)
    fill([pole], width, height, (x, y, share) => blend(x, y, share, [80, 80, 84], 1))
    // Gusts lift it and let it hang.
    const lift = 0.5 + 0.5 * Math.sin(atMs / 1_900 + 2 * Math.sin(atMs / 3_700))
    const figure = Array.from({ length: FLAG_PARTS }, (_, part) => {
      const at = (share: number): [number, number] => [
        poleX + share * length * (0.35 + 0.65 * lift),
        top + share * length * (1 - lift) + share * swing * high * Math.sin(atMs / 160 - 5 * share),
      ]
      return limb(...at(part / FLAG_PARTS), high, ...at((part + 1) / FLAG_PARTS), high)
    })
    fill(figure, width, height, (x, y, share) => blend(x, y, share, shade, 1))
  }

  /** Two beams that pass from one side to the other; they light the ground and add to what is there. */
  function drawHeadlights(atMs: number): boolean {
    let isLit = false
    for (const startMs of scene.headlightsMs ?? []) {
      const progress = (atMs - startMs) / HEADLIGHTS_MS
      if (progress < 0 || progress > 1) continue
      if (!isLit) light.fill(0)
      isLit = true
      for (const beam of [0, 0.09]) {
        const x = (progress * 1.6 - 0.3 + beam) * width
        const y = 0.42 * height
        for (let row = 0, at = 0; row < height; row++)
          for (let column = 0; column < width; column++, at++) {
            const dx = (column - x) / (0.07 * width)
            const dy = (row - y) / (0.16 * height)
            light[at]! += 1.6 * Math.exp(-dx * dx - dy * dy)
          }
      }
    }
    return isLit
  }

  function drawRain(streaks: number, atMs: number): void {
    const random = createRandom(scene.seed * 31 + Math.round(atMs))
    for (let i = 0; i < streaks; i++) {
      const x = random.between(0, width)
      const y = random.between(-0.1, 1) * height
      const length = random.between(0.02, 0.08) * height
      const share = random.between(0.2, 0.5)
      const colour = [RAIN + 130, RAIN + 130, RAIN + 136] as const
      fill([limb(x, y, 0.5, x + length * 0.15, y + length, 0.5)], width, height, (px, py, covered) =>
        blend(px, py, covered * share, colour, 1),
      )
    }
  }

  function brightness(atMs: number): number {
    const { clouds = 0, lightSwitch } = scene
    const cloud = 1 - clouds * (0.5 + 0.5 * Math.sin(atMs / 2_600) * Math.cos(atMs / 4_100))
    return cloud * (lightSwitch && atMs >= lightSwitch.atMs ? lightSwitch.factor : 1)
  }

  return {
    render(atMs) {
      image.data.set(backdrop.data)
      if (scene.branch !== undefined) drawBranch(scene.branch, atMs)
      if (scene.flag !== undefined) drawFlag(scene.flag, atMs)
      const truth = scene.actors.flatMap((actor, index) => drawActor(actor, index, atMs) ?? [])
      const isLit = drawHeadlights(atMs)
      if (scene.rain !== undefined) drawRain(scene.rain, atMs)
      const offsets = createRandom(scene.seed * 17 + Math.round(atMs))
      const factor = brightness(atMs)
      const { unit, steps } = noise
      for (let y = 0, pixel = 0; y < height; y++) {
        let at = Math.floor(offsets.next() * NOISE_VALUES)
        if (!isLit && factor === 1) {
          for (const end = pixel + width; pixel < end; pixel++) {
            const step = steps[at++ & (NOISE_VALUES - 1)]!
            const byte = pixel * 3
            clamped[byte]! += step
            clamped[byte + 1]! += step
            clamped[byte + 2]! += step
          }
          continue
        }
        for (const end = pixel + width; pixel < end; pixel++) {
          const grain = Math.fround(unit[at++ & (NOISE_VALUES - 1)]! * deviation)
          const gain = isLit ? factor * (1 + light[pixel]!) : factor
          const byte = pixel * 3
          clamped[byte] = Math.floor(clamped[byte]! * gain + grain)
          clamped[byte + 1] = Math.floor(clamped[byte + 1]! * gain + grain)
          clamped[byte + 2] = Math.floor(clamped[byte + 2]! * gain + grain)
        }
      }
      return { image, truth }
    },
  }
}

type Noise = {
  /** With deviation 1. */
  readonly unit: Float32Array
  /**
   * In grey levels, rounded down: all that matters to a picture in its usual light, whose levels are whole before they
   * are cut.
   */
  readonly steps: Int16Array
}

/** Gaussian noise. */
function noiseTable(seed: number, deviation: number): Noise {
  const random = createRandom(seed + 77)
  const unit = new Float32Array(NOISE_VALUES)
  const steps = new Int16Array(NOISE_VALUES)
  for (let i = 0; i < NOISE_VALUES; i++) {
    unit[i] = random.normal()
    steps[i] = Math.floor(Math.fround(unit[i]! * deviation))
  }
  return { unit, steps }
}

type Leaf = { x: number; y: number; length: number; cos: number; sin: number; shade: number }

function leavesOf(seed: number): Leaf[] {
  const random = createRandom(seed + 5)
  return Array.from({ length: 60 }, () => {
    const angle = random.between(0.4, 2.7)
    return {
      x: random.between(-0.3, 0.6),
      y: random.next(),
      length: random.between(0.02, 0.05),
      cos: Math.cos(angle),
      sin: Math.sin(angle),
      shade: random.between(0.7, 1.4),
    }
  })
}
