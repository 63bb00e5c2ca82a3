import { expect, test } from 'vitest'
import { lumaOf, type Plane } from './image.ts'
import { createOverlayFinder } from './overlays.ts'
import { createRenderer, walker, type Actor } from './rendered/index.ts'

const SIZE = { width: 480, height: 270 }
const MINUTE = 61

/** 3 x 5 dots each. */
const DIGITS = [31599, 11415, 29671, 29647, 23497, 31183, 31215, 29257, 31727, 31695]

function write(luma: Plane, text: string, at: { x: number; y: number }): Plane {
  const dot = 2
  const set = (x: number, y: number, level: number) => void (luma.data[y * luma.stride + x] = level)
  for (let y = -2; y < 5 * dot + 2; y++) for (let x = -2; x < text.length * 4 * dot; x++) set(at.x + x, at.y + y, 10)
  for (const [place, digit] of [...text].entries())
    for (let y = 0; y < 5 * dot; y++)
      for (let x = 0; x < 3 * dot; x++) {
        const bit = 14 - (Math.floor(y / dot) * 3 + Math.floor(x / dot))
        if (DIGITS[Number(digit)]! & (1 << bit)) set(at.x + 4 * dot * place + x, at.y + y, 235)
      }
  return luma
}

/** What is found in pictures that come once a second. */
function findIn(pictureAt: (second: number) => Plane, seconds = MINUTE) {
  const finder = createOverlayFinder(SIZE)
  let found: ReturnType<typeof finder.see>
  for (let second = 0; second < seconds; second++) found = finder.see(pictureAt(second), second * 1_000) ?? found
  return found
}

const sceneOf = (daylight: 'day' | 'night', actors: readonly Actor[] = [], more = {}) =>
  createRenderer({ name: 'bank', seed: 4, daylight, durationMs: 60_000, actors, ...more }, SIZE.width, SIZE.height)
const clock = (second: number) => `1200${String(second % 60).padStart(2, '0')}${second % 10}`

test.each(['day', 'night'] as const)('a clock at an edge of a rendered scene is found, by %s', (daylight) => {
  const scene = sceneOf(daylight)
  for (const at of [
    { x: 8, y: 8 },
    { x: 400, y: 250 },
  ]) {
    const found = findIn((second) => write(lumaOf(scene.render(second * 1_000).image), clock(second), at))
    expect(found).toHaveLength(1)
    const { x, y, width, height } = found![0]!
    expect(x * SIZE.width).toBeGreaterThan(at.x - 9)
    expect((x + width) * SIZE.width).toBeLessThan(at.x + 8 * 8 + 9)
    expect(y * SIZE.height).toBeGreaterThan(at.y - 11)
    expect((y + height) * SIZE.height).toBeLessThan(at.y + 22)
  }
})

test('text in the middle is not taken, nor what ends before the minute, nor before a pause', () => {
  const scene = sceneOf('day')
  const { image } = scene.render(0)
  const picture = (second: number) => write(lumaOf(image), clock(second), { x: 200, y: 120 })
  expect(findIn(picture)).toEqual([])
  expect(
    findIn((second) => (second < 45 ? write(lumaOf(image), clock(second), { x: 8, y: 8 }) : lumaOf(image))),
  ).toEqual([])
  expect(findIn((second) => write(lumaOf(image), clock(second), { x: 8, y: 8 }), 59)).toBeUndefined()
})

test.each(['boar', 'cat', 'fox', 'person'] as const)('a %s that walks to and fro at an edge is none', (label) => {
  for (const daylight of ['day', 'night'] as const)
    for (const height of [0.08, 0.15])
      for (const [travel, period] of [
        [0.03, 7],
        [0.03, 5.3],
        [0.15, 7],
      ] as const) {
        const walk = walker(label, { seed: 9, startMs: 0, endMs: 10_000 })
        const actor = { ...walk, height, from: [0.5, 0.98], to: [0.5 + travel, 0.98] } as const
        const scene = sceneOf(daylight, [actor])
        // There and back again in some seconds, with steps of its legs.
        const at = (second: number) => 10_000 * Math.abs(((second / period) % 1) * 2 - 1) * 0.98
        const found = findIn((second) => lumaOf(scene.render(at(second)).image)) ?? []
        expect(found, `${daylight} ${height} ${travel} ${period}`).toEqual([])
      }
})

test('a branch and a flag that move in the wind are none', () => {
  const scene = sceneOf('day', [], { branch: 0.02, flag: 0.1 })
  expect(findIn((second) => lumaOf(scene.render(second * 1_000).image)) ?? []).toEqual([])
})
