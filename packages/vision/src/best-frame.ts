/**
 * Chooses the picture of a track for people: a sure and large one, with the whole object in it.
 */
import { areaOf, type Box } from './box.ts'

/** Nearer to the border than this, the object may continue outside the picture. In shares of the picture. */
const EDGE = 0.005
/** Beyond this share of the picture, larger is not better. */
const LARGE_AREA = 0.1
const CUT_OFF = 0.5
/** A new picture must be better by this much, so that encoding one is rare. */
const CLEARLY = 1.1

/** How good a picture of the object is; greater is better. `score` is 0 to 1. */
export function frameQuality(box: Box, score: number): number {
  const isCut = box.x < EDGE || box.y < EDGE || box.x + box.width > 1 - EDGE || box.y + box.height > 1 - EDGE
  return score * Math.min(1, areaOf(box) / LARGE_AREA) ** 0.25 * (isCut ? CUT_OFF : 1)
}

/** Whether a picture of `quality` should replace the best one so far, if there is one. */
export function isBetterFrame(quality: number, best: number | undefined): boolean {
  return best === undefined || quality > best * CLEARLY
}
