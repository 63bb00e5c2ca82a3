import { createPlane, Tracker, type Box, type Plane, type Region } from '@hedgerow/vision'
import { expect, test } from 'vitest'
import { createMovement } from './movement.ts'
import { TRACKING } from './tracking.ts'

const CAR = { x: 0.3, y: 0.4, width: 0.4, height: 0.3 }
const region = (box: Box): Region => ({ box, blocks: 9, stirred: 9, strength: 3 })

/** A picture with stripes inside of the boxes, as a car and a dog have a texture. */
function picture(...boxes: Box[]): Plane {
  const plane = createPlane(160, 90)
  plane.data.fill(100)
  for (const [i, { x, y, width, height }] of boxes.entries())
    for (let row = Math.ceil(y * 90); row < (y + height) * 90 - 1; row++)
      for (let column = Math.ceil(x * 160); column < (x + width) * 160 - 1; column++)
        plane.data[row * 160 + column] = i === 0 ? 40 + ((column * 7) % 120) : 10
  return plane
}

type Step = { boxes: readonly Box[]; label?: string; motion?: readonly Box[]; luma?: Plane }

/** At which steps each label moved. */
function follow(steps: readonly Step[]): number[] {
  const [tracker, movement] = [new Tracker(TRACKING), createMovement()]
  return steps.flatMap(({ boxes, motion = [], luma = picture(CAR) }, step) => {
    const sightings = boxes.map((box) => ({ box, label: 'car', score: 0.9 }))
    const { seen } = tracker.update(sightings, step * 200)
    return seen.some((track) => movement.hasMoved(track, motion.map(region), luma, step * 200)) ? [step] : []
  })
}

test('an object moves when its own box leaves its place', () => {
  const walk = Array.from({ length: 8 }, (_, i) => ({ x: 0.1 + i * 0.03, y: 0.5, width: 0.05, height: 0.2 }))
  const moved = follow(walk.map((box) => ({ boxes: [box], motion: [box], luma: picture(box) })))
  expect(moved.length).toBeGreaterThan(4)
})

test('a parked car does not move when a dog passes, whole or half hidden', () => {
  const dog = (i: number) => ({ x: 0.2 + i * 0.05, y: 0.55, width: 0.15, height: 0.2 })
  const still = Array.from({ length: 30 }, (): Step => ({ boxes: [CAR] }))
  const half = { ...CAR, width: 0.22 }
  const passing = Array.from({ length: 10 }, (_, i): Step => ({
    boxes: [i > 3 && i < 7 ? half : CAR],
    motion: [dog(i)],
    luma: picture(CAR, dog(i)),
  }))
  expect(follow([...still, ...passing])).toEqual([])
})

test('what rests is known again when it is found as half of it first; when it leaves, it moves', () => {
  const rest = Array.from({ length: 30 }, (): Step => ({ boxes: [CAR], motion: [] }))
  const gone = Array.from({ length: 10 }, (): Step => ({ boxes: [] }))
  const half = { ...CAR, width: 0.18 }
  const again = [half, half, CAR, CAR, CAR].map((box): Step => ({ boxes: [box], motion: [CAR] }))
  expect(follow([...rest, ...gone, ...again])).toEqual([])
  const away = Array.from({ length: 6 }, (_, i) => ({ ...CAR, x: CAR.x - 0.05 * (i + 1) }))
  const leaving = away.map((box): Step => ({ boxes: [box], motion: [box], luma: picture(box) }))
  expect(follow([...rest, ...leaving])).not.toEqual([])
})

test('somebody who came between two looks, and stands now, has moved', () => {
  const box = { x: 0.5, y: 0.3, width: 0.1, height: 0.5 }
  expect(follow(Array.from({ length: 3 }, () => ({ boxes: [box], motion: [box] })))).not.toEqual([])
})

test('what is found where half the picture changed, as when a weak stream repairs it, has not moved', () => {
  const found = Array.from({ length: 8 }, (_, i) => ({ x: 0.1 + i * 0.04, y: 0.2, width: 0.25, height: 0.5 }))
  const wide = { x: 0, y: 0, width: 0.9, height: 0.9 }
  expect(follow(found.map((box) => ({ boxes: [box], motion: [wide], luma: picture(box) })))).toEqual([])
  const near = { x: 0, y: 0.1, width: 0.6, height: 0.6 }
  expect(follow(found.map((box) => ({ boxes: [box], motion: [near], luma: picture(box) })))).not.toEqual([])
})
