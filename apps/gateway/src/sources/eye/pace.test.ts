import type { Box, Region } from '@hedgerow/vision'
import { expect, test } from 'vitest'
import { createPace } from './pace.ts'

const region = (x: number, y = 0.4): Region => ({
  box: { x, y, width: 0.05, height: 0.1 },
  blocks: 6,
  stirred: 6,
  strength: 3,
})
const nothing = { regions: [], followed: [], unsure: [] }

/** The number of looks at a minute of pictures, five a second. */
function looks(regionsAt: (i: number) => Region[], isAnything = false): number {
  const pace = createPace()
  let count = 0
  for (let i = 0; i < 300; i++) {
    if (!pace.aim({ ...nothing, regions: regionsAt(i) }, i * 200)) continue
    count++
    pace.found(isAnything ? 0.9 : 0, i * 200)
  }
  return count
}

test('a still picture is looked at every ten seconds, and every five after something was found', () => {
  expect(looks(() => [])).toBe(6)
  expect(looks(() => [], true)).toBe(12)
})

test('what came and stands, such as a shadow, is looked at for a second', () => {
  expect(looks((i) => (i < 5 ? [] : [{ ...region(0.4), stirred: i < 7 ? 6 : 0 }]))).toBeLessThan(10)
})

test('what moves and is something is looked at in every picture; a branch ever more rarely', () => {
  expect(looks(() => [region(0.4)], true)).toBeGreaterThan(290)
  expect(looks(() => [region(0.4)])).toBeLessThan(30)
})

test('rain, insects and key frames, which are elsewhere in each picture, are hardly looked at', () => {
  const elsewhere = (i: number) => [region(((i * 37) % 90) / 100, ((i * 53) % 80) / 100)]
  expect(looks(elsewhere)).toBeLessThan(40)
})

test('after branches, the next thing is looked at within a second', () => {
  const pace = createPace()
  let at = 0
  for (; at < 20_000; at += 200) if (pace.aim({ ...nothing, regions: [region(0.1)] }, at)) pace.found(0, at)
  const animal: Box = region(0.7).box
  const moving = [region(0.1), { ...region(0.7), box: animal, blocks: 20 }]
  const seconds = Array.from({ length: 7 }, () => pace.aim({ ...nothing, regions: moving }, (at += 200)))
  expect(seconds.some((aim) => aim?.boxes.includes(animal))).toBe(true)
})

test('a possible person is looked at in the next picture, first of all', () => {
  const pace = createPace()
  pace.aim(nothing, 0)
  const unsure = [region(0.2).box]
  expect(pace.aim({ ...nothing, unsure }, 200)).toMatchObject({ boxes: unsure })
})
