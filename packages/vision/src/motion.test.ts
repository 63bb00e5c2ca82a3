import { describe, expect, test } from 'vitest'
import { overlapOf } from './box.ts'
import { createPlane, lumaOf, type Plane } from './image.ts'
import { createMotionDetector, type Motion } from './motion.ts'
import { createRenderer, walker, type Scene } from './rendered/index.ts'

const size = { width: 160, height: 96 }
const FRAME_MS = 200

/** A flat grey picture with a slight pattern, on which `draw` paints. */
function picture(
  draw?: (paint: (x: number, y: number, width: number, height: number, value: number) => void) => void,
): Plane {
  const plane = createPlane(size.width, size.height)
  for (let i = 0; i < plane.data.length; i++) plane.data[i] = 90 + ((i * 7) % 13)
  draw?.((x, y, width, height, value) => {
    for (let row = y; row < y + height; row++)
      plane.data.fill(value, row * size.width + x, row * size.width + x + width)
  })
  return plane
}

function learned(options: Partial<Parameters<typeof createMotionDetector>[0]> = {}) {
  const detector = createMotionDetector({ size, ...options })
  let now = 0
  const next = (plane: Plane): Motion => detector.detect(plane, (now += FRAME_MS))
  for (let i = 0; i < 20; i++) next(picture())
  return next
}

describe('regions', () => {
  test('a new object is found at its place, to a block', () => {
    const next = learned()
    const { state, regions } = next(picture((paint) => paint(40, 24, 32, 24, 200)))
    expect(state).toBe('steady')
    expect(regions).toHaveLength(1)
    expect(regions[0]!.box).toEqual({ x: 40 / 160, y: 24 / 96, width: 32 / 160, height: 24 / 96 })
    expect(regions[0]!.blocks).toBe(12)
  })

  test('parts with one block between them are one region; with two they are two', () => {
    const two = (gap: number) => (paint: (x: number, y: number, w: number, h: number, v: number) => void) => {
      paint(16, 16, 16, 24, 200)
      paint(32 + gap, 16, 16, 24, 200)
    }
    expect(learned()(picture(two(8))).regions).toHaveLength(1)
    expect(learned()(picture(two(16))).regions).toHaveLength(2)
  })

  test('a change of fewer than four blocks or of little contrast is ignored', () => {
    expect(learned()(picture((paint) => paint(40, 24, 16, 8, 200))).regions).toEqual([])
    expect(learned()(picture((paint) => paint(40, 24, 32, 24, 98))).regions).toEqual([])
  })

  test('movement under a mask is ignored', () => {
    const masks = [
      [
        [0, 0],
        [0.6, 0],
        [0.6, 1],
        [0, 1],
      ] as const,
    ]
    const next = learned({ masks })
    expect(next(picture((paint) => paint(40, 24, 32, 24, 200))).regions).toEqual([])
    expect(next(picture((paint) => paint(112, 24, 32, 24, 200))).regions).toHaveLength(1)
  })

  test('a size that is no multiple of the block works to its last pixel', () => {
    const odd = { width: 150, height: 90 }
    const detector = createMotionDetector({ size: odd })
    const plane = createPlane(odd.width, odd.height, new Uint8Array(150 * 90).fill(80))
    for (let i = 0; i < 20; i++) detector.detect(plane, i * FRAME_MS)
    for (let y = 70; y < 90; y++) plane.data.fill(160, y * 150 + 130, y * 150 + 150)
    const [region] = detector.detect(plane, 20 * FRAME_MS).regions
    expect(region!.box.x + region!.box.width).toBeCloseTo(1)
    expect(region!.box.y + region!.box.height).toBeCloseTo(1)
  })

  test('a picture of another size is refused', () => {
    expect(() => createMotionDetector({ size }).detect(createPlane(80, 96), 0)).toThrow(RangeError)
  })
})

describe('the background', () => {
  test('nothing is reported while it is learned', () => {
    const detector = createMotionDetector({ size })
    const states = Array.from({ length: 12 }, (_, i) => {
      const { state, regions } = detector.detect(
        picture((paint) => paint(8 * i, 24, 32, 24, 200)),
        i * FRAME_MS,
      )
      expect(regions.length === 0 || state === 'steady').toBe(true)
      return state
    })
    expect(states.filter((state) => state === 'learning')).toHaveLength(10)
  })

  test('other light over the whole picture is no motion, at once and step by step', () => {
    const lit = (factor: number) => {
      const plane = picture()
      for (const [i, value] of plane.data.entries()) plane.data[i] = Math.min(255, value * factor)
      return plane
    }
    const next = learned()
    expect(next(lit(1.8))).toMatchObject({ state: 'steady', regions: [] })
    const slow = learned()
    for (let factor = 1; factor > 0.4; factor -= 0.02) expect(slow(lit(factor)).regions).toEqual([])
  })

  test('an object that stands still for some minutes becomes background, and is found again when it leaves', () => {
    const next = learned()
    const parked = picture((paint) => paint(40, 24, 32, 24, 200))
    expect(next(parked).regions).toHaveLength(1)
    for (let i = 0; i < 5 * 300; i++) next(parked)
    expect(next(parked).regions).toEqual([])
    expect(next(picture()).regions).toHaveLength(1)
  })

  test('another view is a new scene, and is learned again', () => {
    const next = learned()
    const other = picture((paint) => {
      for (let x = 0; x < 160; x += 16) paint(x, 0, 8, 96, 230)
      for (let y = 0; y < 96; y += 16) paint(0, y, 160, 8, 20)
    })
    expect(next(other)).toMatchObject({ state: 'new-scene', regions: [] })
    expect(next(other)).toMatchObject({ state: 'learning', regions: [] })
    for (let i = 0; i < 15; i++) next(other)
    expect(next(other)).toMatchObject({ state: 'steady', regions: [] })
  })

  test('after an animal that filled the picture, the scene before is known at once', () => {
    const next = learned()
    const animal = picture((paint) => {
      for (let x = 0; x < 160; x += 16) paint(x, 0, 8, 96, 230)
      for (let y = 0; y < 96; y += 16) paint(0, y, 160, 8, 20)
    })
    expect(next(animal).state).toBe('new-scene')
    for (let i = 0; i < 50; i++) next(animal)
    expect(next(picture())).toMatchObject({ state: 'steady', regions: [] })
    expect(next(picture((paint) => paint(40, 24, 32, 24, 200))).regions).toHaveLength(1)
  })

  test('of a thing that stands nothing is stirred', () => {
    const next = learned()
    const at = (x: number) => next(picture((paint) => paint(x, 24, 32, 24, 200))).regions[0]
    expect(at(40)).toMatchObject({ blocks: 12, stirred: 12 })
    expect(at(40)).toMatchObject({ blocks: 12, stirred: 0 })
    expect(at(48)!.stirred).toBeGreaterThan(0)
  })

  test('a clock that stands still, and black or white pictures, give no NaN', () => {
    const detector = createMotionDetector({ size })
    const levels = [0, 0, 255, 255, 0, 128, 128, 128, 0, 255]
    for (const level of levels) {
      const plane = createPlane(size.width, size.height, new Uint8Array(size.width * size.height).fill(level))
      const { regions, lighting } = detector.detect(plane, 1_000)
      expect(Number.isFinite(lighting)).toBe(true)
      for (const { strength } of regions) expect(Number.isFinite(strength)).toBe(true)
    }
  })
})

test('the box is around a rendered animal', () => {
  const scene: Scene = {
    name: 'a boar',
    seed: 3,
    daylight: 'night',
    durationMs: 12_000,
    actors: [walker('boar', { seed: 9 })],
  }
  const renderer = createRenderer(scene, 640, 360)
  const motion = createMotionDetector({ size: { width: 640, height: 360 } })
  const overlaps: number[] = []
  for (let at = 0; at < scene.durationMs; at += FRAME_MS) {
    const { image, truth } = renderer.render(at)
    const [region] = motion.detect(lumaOf(image), at).regions
    if (truth[0] && truth[0].visible > 0.999 && region) overlaps.push(overlapOf(truth[0].box, region.box))
  }
  expect(overlaps.length).toBeGreaterThan(20)
  expect(overlaps.reduce((a, b) => a + b) / overlaps.length).toBeGreaterThan(0.75)
})
