/**
 * When and where a model looks. It looks around from time to time, and at what moves: at once, and then ever more
 * rarely while it finds nothing there, because branches, rain and noise move for hours.
 */
import { areaOf, growBy, intersectionOf, type Box, type Region } from '@hedgerow/vision'

export type Aim = {
  /** What matters in the picture, the most important first. */
  readonly boxes: readonly Box[]
  /** Whether the whole picture is due. */
  readonly isWhole: boolean
  /** Whether it is not known yet what moves. */
  readonly isUnknown: boolean
  /** The longer side of objects at this place, as a share of the shorter side of the picture; 0 when unknown. */
  usualSide(box: Box): number
}

/** How often the whole picture is looked at: while something moves or is followed, and otherwise. */
const WHOLE_EVERY_MS = 2_000
const LOOK_AROUND_EVERY_MS = 10_000
/** The same for this time after a look that may have found something, such as a person who stands still now. */
const LOOK_AGAIN_EVERY_MS = 5_000
const FOUND_MS = 60_000
/** From these scores on, a look found something, or may have. */
const FOUND = 0.4
const POSSIBLE = 0.25
/** How often a picture without movement is looked at while a track is followed. */
const FOLLOW_EVERY_MS = 500
/**
 * After looks that found nothing, the next one waits twice as long each time, but no longer than this: while something
 * moves at a place that was not looked at in vain, and otherwise.
 */
const FIRST_WAIT_MS = 200
const WAIT_MAX_MS = 1_000
const WAIT_IN_VAIN_MS = 3_000
const VAIN_PLACES = 32
/** What did not change for so long stands: a shadow that the sun left, or a picture that a weak stream repairs. */
const STANDS_MS = 1_000
/** A region goes on when one of the picture before is nearer than this share of its sides. */
const NEAR = 0.5

export type Seen = {
  regions: readonly Region[]
  /** Where objects are that moved lately. */
  followed: readonly Box[]
  /** What the next look must decide about. */
  unsure: readonly Box[]
}

export function createPace() {
  let lookedAt = -Infinity
  let wholeAt = -Infinity
  let fruitless = 0
  let before: readonly Region[] = []
  let foundAt = -Infinity
  /** Where the last looks found nothing. */
  let vain: readonly Box[] = []
  let aimed: readonly Box[] = []
  /** Where something changed lately. */
  let stirred: { box: Box; atMs: number }[] = []

  return {
    /** Undefined when the picture is not worth a look. */
    aim({ regions, followed, unsure }: Seen, now: number): Omit<Aim, 'usualSide'> | undefined {
      // Rain drops, insects before the lens and key frames of a weak stream are somewhere else in the next picture.
      stirred = [
        ...stirred.filter(({ atMs }) => now - atMs < STANDS_MS),
        ...regions.filter((region) => region.stirred > 0).map(({ box }) => ({ box, atMs: now })),
      ]
      const lasting = regions.filter(
        ({ box }) =>
          before.some((other) => isNear(box, other.box)) && stirred.some((other) => intersectionOf(box, other.box) > 0),
      )
      before = regions
      const isInVain = lasting.every(({ box }) => vain.some((place) => intersectionOf(place, box) > areaOf(box) / 2))
      const longestMs = isInVain ? WAIT_IN_VAIN_MS : WAIT_MAX_MS
      const waitMs = fruitless === 0 ? 0 : Math.min(longestMs, FIRST_WAIT_MS * 2 ** fruitless)
      const isActive = lasting.length > 0 && now - lookedAt >= waitMs
      const isFollowed = followed.length > 0 && now - lookedAt >= FOLLOW_EVERY_MS
      const everyMs =
        isActive || followed.length > 0
          ? WHOLE_EVERY_MS
          : now - foundAt < FOUND_MS
            ? LOOK_AGAIN_EVERY_MS
            : LOOK_AROUND_EVERY_MS
      const isWhole = now - wholeAt >= everyMs
      if (!isActive && !isFollowed && !isWhole && unsure.length === 0) return undefined
      const moving = lasting.toSorted((a, b) => b.blocks - a.blocks).map(({ box }) => box)
      lookedAt = now
      aimed = moving
      if (isWhole) wholeAt = now
      return { boxes: [...unsure, ...followed, ...moving], isWhole, isUnknown: followed.length === 0 }
    },
    /** The highest score of what the last look found and is not known to rest there. */
    found(score: number, now: number): void {
      if (score >= POSSIBLE) foundAt = now
      vain = score >= FOUND ? [] : [...vain, ...aimed].slice(-VAIN_PLACES)
      fruitless = score >= FOUND ? 0 : Math.min(10, fruitless + 1)
    },
  }
}

function isNear(a: Box, b: Box): boolean {
  return intersectionOf(growBy(a, NEAR), growBy(b, NEAR)) > 0
}
