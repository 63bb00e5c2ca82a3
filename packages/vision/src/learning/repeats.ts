/**
 * Boxes that repeat at the same place: a branch, a flag, a post. Repeat detection elimination (Morris, MegaDetector
 * documentation), with a person who decides.
 */
import { clipToPicture, growBy, overlapOf, type Box } from '../box.ts'

export type Seen = {
  readonly label: string
  readonly box: Box
  /** True when a person called it right, false for wrong; undefined without a review. */
  readonly isRight: boolean | undefined
}

/** A place that a person may want to mask. */
export type Repeat = {
  readonly label: string
  /** The mean of the boxes, grown a little, inside the picture. */
  readonly box: Box
  readonly times: number
  /** How many of them people called wrong. */
  readonly wrong: number
}

const SAME_OVERLAP = 0.9
const LEAST_TIMES = 20
/** A right detection that overlaps the place by this much prevents the proposal. */
const RIGHT_OVERLAP = 0.5
const MARGIN = 0.05
const PLACES_MAX = 2_000

type Place = { label: string; first: Box; sum: { x: number; y: number; width: number; height: number } } & Pick<
  Repeat,
  'times' | 'wrong'
>

/** Boxes that were seen at least 20 times with an overlap of 0.9 and never called right, the most frequent first. */
export function findRepeats(seen: readonly Seen[]): Repeat[] {
  const places: { -readonly [K in keyof Place]: Place[K] }[] = []
  for (const { label, box, isRight } of seen) {
    let place = places.find((mask) => mask.label === label && overlapOf(mask.first, box) >= SAME_OVERLAP)
    if (!place) {
      if (places.length >= PLACES_MAX) continue
      place = { label, first: box, sum: { x: 0, y: 0, width: 0, height: 0 }, times: 0, wrong: 0 }
      places.push(place)
    }
    place.times += 1
    if (isRight === false) place.wrong += 1
    for (const side of ['x', 'y', 'width', 'height'] as const) place.sum[side] += box[side]
  }
  const right = seen.filter(({ isRight }) => isRight === true)
  return places
    .filter(({ times }) => times >= LEAST_TIMES)
    .map(({ label, sum, times, wrong }) => {
      const mean = { x: sum.x / times, y: sum.y / times, width: sum.width / times, height: sum.height / times }
      return { label, box: clipToPicture(growBy(mean, MARGIN)), times, wrong }
    })
    .filter(({ box }) => right.every((one) => overlapOf(one.box, box) < RIGHT_OVERLAP))
    .toSorted((a, b) => b.times - a.times)
}
