import { describe, expect, test } from 'vitest'
import { drawBackdrop } from './backdrop.ts'
import { createRandom } from './random.ts'
import { boundsOf, fill, limb } from './outline.ts'
import { createRenderer, type Scene } from './scene.ts'
import { scenes, walker } from './scenes.ts'
import { RENDERED_LABELS, silhouetteOf } from './silhouettes.ts'

const quiet: Scene = {
  name: 'a deer',
  seed: 4,
  daylight: 'day',
  durationMs: 10_000,
  noise: 0,
  actors: [walker('deer', { startMs: 0, endMs: 8_000 })],
}

test('random numbers: the same for the same seed, spread evenly, Gaussian when asked for', () => {
  const random = createRandom(7)
  const values = Array.from({ length: 20_000 }, () => random.next())
  const again = createRandom(7)
  expect(values.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => again.next()))
  expect(values.reduce((a, b) => a + b) / values.length).toBeCloseTo(0.5, 1)
  expect(Math.min(...values)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...values)).toBeLessThan(1)
  const normal = Array.from({ length: 20_000 }, () => random.normal())
  expect(normal.reduce((a, b) => a + b * b) / normal.length).toBeCloseTo(1, 1)
})

test('filling covers the area of the outline, once where parts overlap, and stays inside the picture', () => {
  const circle = limb(10, 10, 5, 10, 10, 5)
  const area = (figure: Float64Array[], width = 20) => {
    let sum = 0
    fill(figure, width, 20, (x, y, share) => {
      expect(x >= 0 && x < width && y >= 0 && y < 20 && share > 0 && share <= 1).toBe(true)
      sum += share
    })
    return sum
  }
  expect(Math.abs(area([circle]) - Math.PI * 25)).toBeLessThan(5)
  expect(area([circle, circle])).toBeCloseTo(area([circle]))
  expect(area([circle], 10)).toBeCloseTo(area([circle]) / 2)
})

test.each(RENDERED_LABELS)('a %s fills its box, is the same for the same seed, and walks', (label) => {
  const { figure, width } = silhouetteOf({ label, seed: 5 }, 1)
  const bounds = boundsOf(figure)
  expect(bounds.left).toBeCloseTo(0)
  expect(bounds.top).toBeCloseTo(0)
  expect(bounds.right).toBeCloseTo(width)
  expect(bounds.bottom).toBeCloseTo(1)
  expect(silhouetteOf({ label, seed: 5 }, 1)).toEqual({ figure, width })
  expect(silhouetteOf({ label, seed: 5 }, 2).figure).not.toEqual(figure)
  expect(silhouetteOf({ label, seed: 6 }, 1).figure).not.toEqual(figure)
})

describe('a scene', () => {
  test('is the same at the same time, whatever was rendered before', () => {
    for (const scene of scenes) {
      const renderer = createRenderer(scene, 96, 54)
      const first = renderer.render(6_000)
      const [bytes, truth] = [Uint8Array.from(first.image.data), first.truth]
      renderer.render(9_000)
      expect(renderer.render(6_000)).toEqual({ image: { ...first.image, data: bytes }, truth })
    }
  })

  test('has objects where the truth says, and nowhere else', () => {
    const [width, height] = [160, 90]
    const nobody = createRenderer({ ...quiet, actors: [] }, width, height).render(0).image.data
    const renderer = createRenderer(quiet, width, height)
    for (const atMs of [2_000, 4_000, 6_000]) {
      const { image, truth } = renderer.render(atMs)
      expect(truth).toHaveLength(1)
      const { box } = truth[0]!
      const inside = { left: width, right: 0, top: height, bottom: 0 }
      for (let at = 0; at < image.data.length; at += 3) {
        const [x, y] = [(at / 3) % width, Math.floor(at / 3 / width)]
        // The shadow lies under the feet and reaches a little beyond the box.
        if (Math.abs(image.data[at]! - nobody[at]!) < 3 || y > (box.y + box.height) * height - 3) continue
        inside.left = Math.min(inside.left, x)
        inside.right = Math.max(inside.right, x + 1)
        inside.top = Math.min(inside.top, y)
        inside.bottom = Math.max(inside.bottom, y + 1)
      }
      expect(inside.left).toBeGreaterThan(box.x * width - 2)
      expect(inside.right).toBeLessThan((box.x + box.width) * width + 2)
      expect(Math.abs(inside.top - box.y * height)).toBeLessThan(3)
      expect(inside.right - inside.left).toBeGreaterThan(0.8 * box.width * width)
    }
  })

  test('has nobody in it before the first comes and after the last has gone', () => {
    const renderer = createRenderer({ ...quiet, actors: [walker('fox', { startMs: 2_000, endMs: 5_000 })] }, 64, 36)
    expect(renderer.render(1_000).truth).toEqual([])
    expect(renderer.render(3_500).truth).toMatchObject([{ actor: 0, label: 'fox', visible: expect.closeTo(1) }])
    expect(renderer.render(6_000).truth).toEqual([])
  })
})

test('the night is darker than the day, and grey', () => {
  const mean = (data: Uint8Array) => data.reduce((a, b) => a + b, 0) / data.length
  const night = drawBackdrop(1, 64, 36, 'night')
  expect(mean(night.data)).toBeLessThan(mean(drawBackdrop(1, 64, 36, 'day').data) / 1.5)
  for (let at = 0; at < night.data.length; at += 3) expect(night.data[at]).toBe(night.data[at + 2])
})
