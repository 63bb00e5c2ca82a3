import type { Plane } from '@hedgerow/vision'

/**
 * Tells whether a camera is frozen: it sends one picture again and again. A sensor has noise, so after each key frame a
 * live picture differs a little almost everywhere, also of a still scene. The same picture, coded again, comes back as
 * it was, at the latest when the coder's bits are spread as they were before. What was measured: decision 050.
 */
export type FreezeWatch = {
  /** Takes each picture that is looked at. */
  see(luma: Plane, atMs: number): void
  /** A picture came that needs no other. */
  keyFrame(): void
  /** Since when the camera has sent the same picture, by the clock of the pictures; undefined while it is live. */
  since(): number | undefined
}

const FROZEN_MS = 60_000
/**
 * How often the picture must come back after a key frame: before one, the coding may repeat a live picture exactly.
 * Three times, and once more because the newest key frame may not be decoded yet.
 */
const RETURNS = 4
/** After more key frames without it, the picture is another one. */
const KEY_FRAMES_APART = 3
/** The same picture differs in at most this share of its pixels, by at most so many levels. */
const SAME = { share: 0.01, levels: 4 }
/** Coding never changes a pixel by more: something moved, such as a digit of a clock. */
const CODING_LEVELS = 16
/** Outside of these levels a sensor's noise does not show: night may be black, and the sky white. */
const SHOWS_NOISE = { from: 12, to: 243 }
const SAMPLE = 7

type Shown = {
  luma: Plane
  atMs: number
  /** More pixels than these changed in another picture; 0 when nobody can tell. */
  changesMax: number
  returns: number
  /** Since it was shown. */
  keyFrames: number
}

export function createFreezeWatch(): FreezeWatch {
  let shown: Shown | undefined
  let seenAt = 0

  return {
    see(luma, atMs) {
      seenAt = atMs
      const likeness = shown && likenessOf(shown, luma)
      if (shown && likeness === 'same') {
        if (shown.keyFrames > 0) shown.returns += 1
        shown.keyFrames = 0
      } else if (!shown || likeness === 'other' || shown.keyFrames > KEY_FRAMES_APART)
        shown = { luma, atMs, changesMax: SAME.share * noisyPixels(luma), returns: 0, keyFrames: 0 }
    },
    keyFrame() {
      if (shown) shown.keyFrames += 1
    },
    since() {
      const isFrozen = shown && shown.changesMax > 0 && shown.returns >= RETURNS && seenAt - shown.atMs >= FROZEN_MS
      return isFrozen ? shown?.atMs : undefined
    },
  }
}

/** `coded`: the same picture with other losses, or a live one whose noise is weak. */
function likenessOf({ luma: before, changesMax }: Shown, luma: Plane): 'same' | 'coded' | 'other' {
  if (before.width !== luma.width || before.height !== luma.height) return 'other'
  let changes = 0
  let most = 0
  for (let at = 0; at < luma.data.length; at++) {
    const change = Math.abs(luma.data[at]! - before.data[at]!)
    if (change === 0) continue
    changes += 1
    if (change > most) most = change
    if (most > CODING_LEVELS) return 'other'
  }
  return changes <= changesMax && most <= SAME.levels ? 'same' : 'coded'
}

/** How many pixels would show noise, from a sample; 0 when they are too few to tell. */
function noisyPixels({ data }: Plane): number {
  let found = 0
  for (let at = 0; at < data.length; at += SAMPLE)
    if (data[at]! >= SHOWS_NOISE.from && data[at]! <= SHOWS_NOISE.to) found += SAMPLE
  return found < SAME.share * data.length ? 0 : found
}
