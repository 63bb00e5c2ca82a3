/**
 * The scenes on which motion, tracking and the demonstration eye are measured: scenes with figures, and busy scenes
 * without any.
 */
import type { Actor, Scene } from './scene.ts'
import type { RenderedLabel } from './silhouettes.ts'

type Walk = Partial<Pick<Actor, 'startMs' | 'endMs' | 'height'>> & { y?: number; toLeft?: boolean; seed?: number }

const HEIGHTS: Record<RenderedLabel, number> = { boar: 0.26, cat: 0.16, deer: 0.42, fox: 0.19, person: 0.5 }

/** A figure that walks from one side of the picture to the other. */
export function walker(label: RenderedLabel, walk: Walk = {}): Actor {
  const { startMs = 4_000, endMs = 14_000, y = 0.75, toLeft = false, seed = 1, height = HEIGHTS[label] } = walk
  const [left, right] = [
    [-0.2, y],
    [1.2, y + 0.08],
  ] as const
  return { label, seed, startMs, endMs, height, from: toLeft ? right : left, to: toLeft ? left : right }
}

const DURATION_MS = 20_000

export const scenes: readonly Scene[] = [
  {
    name: 'a boar at night',
    seed: 11,
    daylight: 'night',
    durationMs: DURATION_MS,
    actors: [walker('boar', { seed: 21 })],
  },
  {
    name: 'a deer by day',
    seed: 12,
    daylight: 'day',
    durationMs: DURATION_MS,
    actors: [walker('deer', { seed: 22, toLeft: true })],
  },
  {
    name: 'a fox at night in rain',
    seed: 13,
    daylight: 'night',
    durationMs: DURATION_MS,
    rain: 150,
    actors: [walker('fox', { seed: 23, endMs: 11_000 })],
  },
  {
    name: 'a cat by day under clouds',
    seed: 14,
    daylight: 'day',
    durationMs: DURATION_MS,
    clouds: 0.4,
    actors: [walker('cat', { seed: 24, endMs: 16_000 })],
  },
  {
    name: 'a person by day',
    seed: 15,
    daylight: 'day',
    durationMs: DURATION_MS,
    actors: [walker('person', { seed: 25, toLeft: true, y: 0.85 })],
  },
  {
    name: 'a person and a boar at night, apart',
    seed: 16,
    daylight: 'night',
    durationMs: DURATION_MS,
    actors: [
      walker('boar', { seed: 26, y: 0.9 }),
      walker('person', { seed: 27, y: 0.62, startMs: 8_000, endMs: 19_000, height: 0.36 }),
    ],
  },
  {
    name: 'two deer behind each other by day',
    seed: 17,
    daylight: 'day',
    durationMs: DURATION_MS,
    actors: [walker('deer', { seed: 28 }), walker('deer', { seed: 29, startMs: 8_500, endMs: 18_500 })],
  },
  {
    name: 'a fox by day beside a branch in the wind',
    seed: 18,
    daylight: 'day',
    durationMs: 30_000,
    branch: 0.012,
    actors: [walker('fox', { seed: 30, startMs: 18_000, endMs: 28_000, y: 0.85 })],
  },
  {
    name: 'nobody, a branch in the wind',
    seed: 19,
    daylight: 'day',
    durationMs: 30_000,
    branch: 0.012,
    actors: [],
  },
  { name: 'nobody, heavy rain at night', seed: 20, daylight: 'night', durationMs: DURATION_MS, rain: 300, actors: [] },
  { name: 'nobody, clouds', seed: 31, daylight: 'day', durationMs: DURATION_MS, clouds: 0.6, actors: [] },
  {
    name: 'nobody, headlights',
    seed: 32,
    daylight: 'night',
    durationMs: DURATION_MS,
    headlightsMs: [5_000, 12_000],
    actors: [],
  },
  {
    name: 'nobody, a lamp is switched on',
    seed: 33,
    daylight: 'night',
    durationMs: DURATION_MS,
    lightSwitch: { atMs: 9_000, factor: 2.2 },
    actors: [],
  },
  { name: 'nobody, a noisy sensor', seed: 34, daylight: 'night', durationMs: DURATION_MS, noise: 14, actors: [] },
]
