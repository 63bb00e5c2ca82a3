/**
 * Whether a tracked object itself moved: its own box left the place where it was. A parked car before which a dog
 * passes does not move, though pixels in its box do.
 */
import {
  areaOf,
  intersectionOf,
  overlapOf,
  resamplePlane,
  type Box,
  type Plane,
  type Region,
  type Track,
} from '@hedgerow/vision'
import { isPersonLabel } from '../../kernel/person-label.ts'

/** An object moves when this share of its box is in a moving region, */
const IN_MOTION = 0.05
/** and this share of its box is outside of where it was, */
const OUTSIDE = 0.3
/** or it shrank to this share of its area, as somebody who walks away. */
const SHRUNK = 0.4
/**
 * or it is new, and this share of it is in a moving region, which is not many times larger: it came between two looks,
 * and stands now.
 */
const CAME = 0.6
const TIMES_LARGER = 2
/** A region that is larger than this share of the picture is no object's: a weak stream repairs its picture. */
const LARGEST = 0.4
/** Of a region in which something moves now, this share differs from the picture before. */
const STIRRED = 0.05
const NEW_MS = 2_000
/** Something that was seen for so long without moving rests there; no person does, so that the next one is seen. */
const RESTS_AFTER_MS = 5_000
const REMEMBERED_MS = 600_000
const RESTING_MAX = 32
/** What rests may be found as another box when something hides a part of it. */
const SAME_PLACE = 0.5
/** From this correlation of brightness on, a place looks as it did. */
const ALIKE = 0.9
const PATCH = 12

type Resting = { box: Box; label: string; patch: Float32Array; seenAt: number }

export function createMovement() {
  /** Where each track was when it last moved, or first. */
  const places = new Map<number, { box: Box; area: number }>()
  let resting: Resting[] = []

  function isResting({ box, label }: Track, luma: Plane, now: number): boolean {
    resting = resting.filter(({ seenAt }) => now - seenAt < REMEMBERED_MS)
    return resting.some((one) => {
      if (one.label !== label || !isAtPlace(box, one.box)) return false
      return likeness(patchOf(luma, one.box), one.patch) > ALIKE
    })
  }

  function rest(track: Track, luma: Plane, now: number): void {
    const { box, label } = track
    const existing = resting.find((one) => one.label === label && overlapOf(one.box, box) > SAME_PLACE)
    // As it looked first: something may hide it later.
    if (existing) existing.seenAt = now
    else if (!isPersonLabel(label))
      resting = [...resting, { box, label, patch: patchOf(luma, box), seenAt: now }].slice(-RESTING_MAX)
  }

  return {
    /** Called for each track that is seen in a picture. */
    hasMoved(track: Track, regions: readonly Region[], luma: Plane, now: number): boolean {
      const { box } = track
      const place = places.get(track.id) ?? { box: track.origin, area: areaOf(track.origin) }
      places.set(track.id, place)
      const fitting = (least: number) =>
        regions.filter((region) => areaOf(region.box) < Math.max(least, TIMES_LARGER * areaOf(box)))
      const moving = fitting(LARGEST).filter(({ stirred, blocks }) => stirred >= STIRRED * blocks)
      const isInMotion = sharedWith(moving, box) > IN_MOTION
      const hasCome = sharedWith(fitting(0), box) > CAME && now - track.firstSeenAt < NEW_MS
      const outside = 1 - intersectionOf(box, place.box) / areaOf(box)
      const hasLeft = hasCome || outside > OUTSIDE || areaOf(box) < SHRUNK * place.area
      if (!(isInMotion || hasCome) || !hasLeft || isResting(track, luma, now)) {
        if (!isInMotion && now - track.firstSeenAt > RESTS_AFTER_MS) rest(track, luma, now)
        return false
      }
      places.set(track.id, { box, area: areaOf(box) })
      return true
    },
    forget: (id: number) => void places.delete(id),
  }
}

/** The share of a box that is in the region which has most of it. */
function sharedWith(regions: readonly Region[], box: Box): number {
  return Math.max(0, ...regions.map((region) => intersectionOf(region.box, box))) / areaOf(box)
}

function isAtPlace(box: Box, place: Box): boolean {
  const shared = intersectionOf(box, place)
  return shared > SAME_PLACE * Math.min(areaOf(box), areaOf(place))
}

function patchOf(luma: Plane, box: Box): Float32Array {
  const { width, height } = luma
  const region = { x: box.x * width, y: box.y * height, width: box.width * width, height: box.height * height }
  return Float32Array.from(resamplePlane(luma, region, PATCH, PATCH).data)
}

/** Pearson's correlation; 1 for two even patches. */
function likeness(a: Float32Array, b: Float32Array): number {
  const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanA, meanB] = [mean(a), mean(b)]
  let [both, ofA, ofB] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i]! - meanA, b[i]! - meanB]
    both += x * y
    ofA += x * x
    ofB += y * y
  }
  return ofA === 0 || ofB === 0 ? 1 : both / Math.sqrt(ofA * ofB)
}
