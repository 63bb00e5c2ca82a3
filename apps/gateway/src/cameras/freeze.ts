import { createHash } from 'node:crypto'
import type { Plane } from '@hedgerow/vision'

/**
 * Tells whether a camera is frozen: it sends one picture, or the same few seconds, again and again. A sensor has noise,
 * so after each key frame a live picture differs a little almost everywhere, also of a still scene. The same picture,
 * coded again, comes back as it was, at the latest when the coder's bits are spread as they were before. What was
 * measured: decision 050.
 */
export type FreezeWatch = {
  /** Takes each picture that is looked at. */
  see(luma: Plane, atMs: number): void
  /** A picture came that needs no other. */
  keyFrame(): void
  /** The same with a hash of its bytes: of a video, only some pictures are looked at. */
  coded(hash: string, atMs: number): void
  /** Since when nothing new came, by the clock of the pictures; undefined while the camera is live. */
  frozen(): Frozen | undefined
}
/** `loop`: it is more than one picture. */
export type Frozen = { sinceMs: number; what: 'still' | 'loop' }

const FROZEN_MS = 60_000
/** Where noise does not show, as at night or in a white sky, only equal pictures tell, and only after this time. */
const BLANK_MS = 600_000
/** The longest loop: a device that hangs repeats what it holds, and longer ones are films that somebody plays. */
const LOOP_MS = 10_000
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
/** A clock in the picture stays in few tiles of this side; the rest of the picture decides. */
const TILE = 16
const CLOCK_SHARE = 0.03
/** Of the rest, this share must show noise: a dark night has little but the letters beside the clock. */
const REST_SHARE = 0.2
/** Outside of these levels a sensor's noise does not show: night may be black, and the sky white. */
const SHOWS_NOISE = { from: 12, to: 243 }
const SAMPLE = 7

type Shown = {
  luma: Plane
  atMs: number
  /** Pixels that would show noise; 0 when they are too few to tell. */
  noisy: number
  /** The tiles in which something moves. */
  moving: Set<number>
  returns: number
  /** Since it was shown. */
  keyFrames: number
}

export function createFreezeWatch(): FreezeWatch {
  let shown: Shown | undefined
  const pictures = createRepeats()
  const codedPictures = createRepeats()
  let seenAt = 0
  let isBlank = false

  return {
    see(luma, atMs) {
      seenAt = atMs
      const noisy = noisyPixels(luma)
      isBlank = noisy === 0
      pictures.see(createHash('sha1').update(luma.data).digest('base64'), atMs, isBlank)
      const likeness = shown && likenessOf(shown, luma)
      if (shown && likeness === 'same') {
        if (shown.keyFrames > 0) shown.returns += 1
        shown.keyFrames = 0
      } else if (!shown || likeness === 'other' || shown.keyFrames > KEY_FRAMES_APART)
        shown = { luma, atMs, noisy, moving: new Set(), returns: 0, keyFrames: 0 }
    },
    keyFrame() {
      pictures.keyFrame()
      if (shown) shown.keyFrames += 1
    },
    coded(hash, atMs) {
      codedPictures.keyFrame()
      codedPictures.see(hash, atMs, isBlank)
    },
    frozen() {
      if (shown && shown.noisy > 0 && shown.returns >= RETURNS && seenAt - shown.atMs >= FROZEN_MS)
        return { sinceMs: shown.atMs, what: 'still' }
      const sinceMs = pictures.frozenSince() ?? codedPictures.frozenSince()
      if (sinceMs === undefined) return undefined
      const isMoving = pictures.differ() && (!shown || seenAt - shown.atMs <= LOOP_MS)
      return { sinceMs, what: isMoving ? 'loop' : 'still' }
    },
  }
}

/** Finds pictures that are equal to earlier ones, bit by bit. */
function createRepeats() {
  /** When each picture of the last seconds was seen, oldest first. */
  const seen = new Map<string, { atMs: number; key: number }>()
  let key = 0
  let newest = 0
  /** The last picture that was new, and what came since. */
  let last = { atMs: 0, isBlank: true, returns: 0 }

  return {
    keyFrame: () => void (key += 1),
    see(hash: string, atMs: number, isBlank: boolean): void {
      newest = atMs
      for (const [old, at] of seen) {
        if (atMs - at.atMs <= LOOP_MS || key - at.key <= KEY_FRAMES_APART) break
        seen.delete(old)
      }
      const before = seen.get(hash)
      seen.delete(hash)
      seen.set(hash, { atMs, key })
      if (!before) last = { atMs, isBlank, returns: 0 }
      else {
        if (before.key < key) last.returns += 1
        last.isBlank &&= isBlank
      }
    },
    /** Whether more than one picture came in the last seconds. */
    differ: () => seen.size > 1,
    frozenSince(): number | undefined {
      const isLong = newest - last.atMs >= (last.isBlank ? BLANK_MS : FROZEN_MS)
      return isLong && last.returns >= RETURNS ? last.atMs : undefined
    },
  }
}

/** `coded`: the same picture with other losses, or a live one whose noise is weak. */
function likenessOf({ luma: before, noisy, moving }: Shown, luma: Plane): 'same' | 'coded' | 'other' {
  const { width, height, stride } = luma
  if (before.width !== width || before.height !== height || before.stride !== stride) return 'other'
  const columns = Math.ceil(width / TILE)
  const tiles = columns * Math.ceil(height / TILE)
  const changes = new Uint16Array(tiles)
  const most = new Uint8Array(tiles)
  for (let y = 0; y < height; y++)
    for (let x = 0, at = y * stride, row = Math.floor(y / TILE) * columns; x < width; x++, at++) {
      const change = Math.abs(luma.data[at]! - before.data[at]!)
      if (change === 0) continue
      const tile = row + Math.floor(x / TILE)
      changes[tile]! += 1
      if (change > most[tile]!) most[tile] = change
      if (change <= CODING_LEVELS) continue
      moving.add(tile)
      if (moving.size > CLOCK_SHARE * tiles || noisy < REST_SHARE * luma.data.length) return 'other'
    }
  let changed = 0
  for (let tile = 0; tile < tiles; tile++) {
    if (changes[tile] === 0 || moving.has(tile)) continue
    changed += changes[tile]!
    if (most[tile]! > SAME.levels) return 'coded'
  }
  return changed <= SAME.share * noisy ? 'same' : 'coded'
}

/** How many pixels would show noise, from a sample; 0 when they are too few to tell. */
function noisyPixels({ data }: Plane): number {
  let found = 0
  for (let at = 0; at < data.length; at += SAMPLE)
    if (data[at]! >= SHOWS_NOISE.from && data[at]! <= SHOWS_NOISE.to) found += SAMPLE
  return found < SAME.share * data.length ? 0 : found
}

/** What a frozen camera does, as part of a sentence. `at`: in milliseconds since 1970. */
export function frozenWords(what: Frozen['what'] = 'still', at: number, timeZone: string | undefined): string {
  const since = momentInWords(at, timeZone)
  return what === 'still' ? `its picture has not changed since ${since}` : `it repeats the same seconds since ${since}`
}

/** `02:14 CET on 26 Nov` */
function momentInWords(at: number, timeZone: string | undefined): string {
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(at)
  return `${format(time)} on ${format({ day: 'numeric', month: 'short' })}`
}
