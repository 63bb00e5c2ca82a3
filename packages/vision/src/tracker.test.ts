import { expect, test } from 'vitest'
import type { Box } from './box.ts'
import { Tracker, type Sighting } from './tracker.ts'

const FRAME_MS = 1_000 / 30
const sighting = (x: number, y = 0.5, { score = 0.9, label = 'boar' } = {}): Sighting => ({
  box: { x, y, width: 0.1, height: 0.1 },
  label,
  score,
})

/** Feeds one list of sightings a frame and tells which confirmed tracks each frame shows. */
function follow(tracker: Tracker, frames: Sighting[][], from = 0): number[][] {
  return frames.map((sightings, i) => tracker.update(sightings, from + i * FRAME_MS).seen.map(({ id }) => id))
}

test('a track is shown when the object was seen a second time, and keeps its number', () => {
  const tracker = new Tracker()
  expect(follow(tracker, [[sighting(0.1)], [sighting(0.11)], [sighting(0.12)]])).toEqual([[], [1], [1]])
})

test('an object that is seen once is no track', () => {
  const tracker = new Tracker()
  expect(follow(tracker, [[sighting(0.1)], [], [sighting(0.1)], []])).toEqual([[], [], [], []])
  expect(tracker.end()).toEqual([])
})

test('an unsure sighting continues a track and never begins one (second association)', () => {
  const unsure = { score: 0.3 }
  const tracker = new Tracker()
  const frames = [[sighting(0.1)], [sighting(0.11)], [sighting(0.12, 0.5, unsure), sighting(0.6, 0.5, unsure)]]
  expect(follow(tracker, [...frames, [sighting(0.13)]])).toEqual([[], [1], [1], [1]])
  expect(
    follow(
      new Tracker(),
      Array.from({ length: 5 }, () => [sighting(0.6, 0.5, unsure)]),
    ),
  ).toEqual([[], [], [], [], []])
})

test('a sighting below the low score is ignored', () => {
  const tracker = new Tracker()
  expect(follow(tracker, [[sighting(0.1)], [sighting(0.1)], [sighting(0.1, 0.5, { score: 0.05 })]])).toEqual([
    [],
    [1],
    [],
  ])
})

test('a hidden object returns under its number, where its velocity predicted it', () => {
  const tracker = new Tracker()
  const at = (i: number) => [sighting(0.1 + 0.01 * i)]
  const frames = Array.from({ length: 30 }, (_, i) => (i >= 12 && i < 22 ? [] : at(i)))
  const shown = follow(tracker, frames)
  expect(shown.slice(1, 12).flat()).toEqual(Array.from({ length: 11 }, () => 1))
  expect(shown.slice(22).flat()).toEqual(Array.from({ length: 8 }, () => 1))
})

test('two that pass each other keep their numbers', () => {
  const tracker = new Tracker()
  const frames = Array.from({ length: 40 }, (_, i) => [sighting(0.1 + 0.015 * i, 0.5), sighting(0.7 - 0.015 * i, 0.56)])
  const last = frames.map((sightings, i) => tracker.update(sightings, i * FRAME_MS).seen).at(-1)!
  expect(last.map(({ id, sighting: { box } }) => [id, box.y])).toEqual([
    [1, 0.5],
    [2, 0.56],
  ])
})

test('a track ends once, after it was lost for a while, with its last state', () => {
  const tracker = new Tracker({ keepLostMs: 500 })
  follow(tracker, [[sighting(0.1)], [sighting(0.15)], [sighting(0.3)]])
  const lastSeenAt = 2 * FRAME_MS
  expect(tracker.update([], lastSeenAt + 400).ended).toEqual([])
  const { ended } = tracker.update([], lastSeenAt + 600)
  expect(ended).toMatchObject([{ id: 1, label: 'boar', hits: 2, state: 'lost', firstSeenAt: 0 }])
  expect(tracker.update([], lastSeenAt + 700).ended).toEqual([])
})

test.each([
  ['another kind, after a while', { label: 'fox' }, 4_000, []],
  ['its own kind, after a while', {}, 4_000, [1]],
  ['its own kind, long after', {}, 120_000, []],
])('looks are far apart: who continues a lost track: %s', (_what, other, at, continued) => {
  const tracker = new Tracker({ keepLostMs: 1_500 })
  follow(tracker, [[sighting(0.1)], [sighting(0.1)]])
  tracker.update([], 2_000)
  const { seen, ended } = tracker.update([sighting(0.1, 0.5, other)], at)
  expect(seen.map(({ id }) => id)).toEqual(continued)
  expect(ended.map(({ id, label }) => [id, label])).toEqual(continued.length > 0 ? [] : [[1, 'boar']])
})

test('the label is the one with most score, the score the median of its looks', () => {
  const tracker = new Tracker()
  const labels = [
    ['fox', 0.95],
    ['boar', 0.8],
    ['boar', 0.85],
  ] as const
  const tracks = labels.map(
    ([label, score], i) => tracker.update([sighting(0.1, 0.5, { label, score })], i * FRAME_MS).seen[0],
  )
  expect(tracks.map((track) => track && [track.label, track.score])).toEqual([undefined, ['fox', 0.8], ['boar', 0.85]])
})

test('travel is how far it got from its first place, in its own lengths, there and back', () => {
  const tracker = new Tracker({ buffer: 0.5 })
  const places = [0.1, 0.15, 0.2, 0.15, 0.1]
  const travels = places.map((x, i) => tracker.update([sighting(x)], i * 200).seen[0]?.travel)
  expect(travels.map((travel) => travel && Math.round(travel * 100) / 100)).toEqual([undefined, 0.5, 1, 1, 1])
})

test('with a buffer, an object that moves nearly its own length between pictures is one track', () => {
  const frames = Array.from({ length: 6 }, (_, i) => ({ at: i * 200, seen: [sighting(0.1 + 0.08 * i)] }))
  const ids = (tracker: Tracker) =>
    new Set(frames.flatMap(({ at, seen }) => tracker.update(seen, at).seen.map(({ id }) => id)))
  expect(ids(new Tracker({ buffer: 0.5 })).size).toBe(1)
  expect(ids(new Tracker({ buffer: 0 })).size).toBe(0)
})

test('a crowd of a hundred keeps its numbers', () => {
  const tracker = new Tracker()
  const crowd = (i: number) =>
    Array.from({ length: 100 }, (_, k): Sighting => {
      const box: Box = { x: (k % 10) / 10 + 0.002 * i, y: Math.floor(k / 10) / 10, width: 0.06, height: 0.06 }
      return { box, label: 'boar', score: 0.9 }
    })
  const frames = Array.from({ length: 10 }, (_, i) => tracker.update(crowd(i), i * FRAME_MS).seen)
  expect(frames.at(-1)!.map(({ id }) => id)).toEqual(frames[1]!.map(({ id }) => id))
  expect(new Set(frames.at(-1)!.map(({ id }) => id)).size).toBe(100)
})

test('end returns the confirmed tracks, and the next ones are new', () => {
  const tracker = new Tracker()
  follow(tracker, [[sighting(0.1)], [sighting(0.1)], [sighting(0.1), sighting(0.8)]])
  expect(tracker.end().map(({ id }) => id)).toEqual([1])
  expect(follow(tracker, [[sighting(0.1)]], 10_000)).toEqual([[]])
})

test('one lucky look does not make a score', () => {
  const tracker = new Tracker({ confirmAfter: 2, newScore: 0.2, highScore: 0.2 })
  const scores = [0.3, 0.95, 0.3, 0.4, 0.3]
  const tracks = scores.map((score, i) => tracker.update([sighting(0.1, 0.5, { score })], i * FRAME_MS).seen[0])
  expect(tracks.at(-1)).toMatchObject({ hits: 5, score: 0.3 })
})

test('a track that was not looked at is not missed', () => {
  const tracker = new Tracker({ confirmAfter: 2, keepLostMs: 300 })
  for (const at of [0, 200]) tracker.update([sighting(0.1)], at)
  const elsewhere = [{ x: 0.6, y: 0.3, width: 0.4, height: 0.7 }]
  for (let at = 400; at < 3_000; at += 200) expect(tracker.update([], at, elsewhere).ended).toEqual([])
  expect(tracker.update([sighting(0.1)], 3_000).seen).toMatchObject([{ id: 1, hits: 3 }])
  expect([3_200, 3_400, 3_600].flatMap((at) => tracker.update([], at).ended)).toMatchObject([{ id: 1 }])
})
