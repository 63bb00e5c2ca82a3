/**
 * Tells whether a camera looks where it usually does, and sees sharply. Every ten seconds one picture is compared with
 * the usual ones: of each hour, in colour and without, in each light. What was measured: decision 083.
 */
import { matchOf, viewOf, VIEW_PLACES, type Plane, type RgbImage, type View } from '@hedgerow/vision'
import { z } from 'zod'

export type ViewFault = 'covered' | 'turned' | 'unfocused'

export type ViewWatch = {
  /** Takes each picture; `at` is in milliseconds since 1970. Returns whether it was compared, and is a usual one. */
  see(picture: { luma: Plane; image: RgbImage; atMs: number }, at: number): boolean
  fault(): ViewFault | undefined
  /** The usual pictures, to be kept. */
  usual(): UsualViews
}

type Usual = Pick<View, 'light' | 'sharpness'> & { detail: Float32Array }
/** The hour of UTC, colours, and the step of light. */
const KEY = /^\d{1,2} (colour|grey) \d{1,2}$/
const level = z.number().min(0).max(2_000)
/** The least recently seen first. */
export const usualViews = z.array(
  z.strictObject({
    key: z.string().regex(KEY),
    light: level,
    sharpness: z.array(level).length(2),
    detail: z.base64().max(VIEW_PLACES * 2),
  }),
)
export type UsualViews = z.output<typeof usualViews>

const EVERY_MS = 10_000
/** A fault is told when each picture of this time had it, and is over after this many right ones. */
const FAULT_MS = 60_000
const FAULT_PICTURES = 4
const RIGHT_PICTURES = 2
/** How much one picture changes the usual one. */
const LESSON = 1 / 30
/** Some 2 kB each. Usually an hour has one or two, by day, at dusk and by night. */
const USUAL_MAX = 72
const LIGHT_STEP = 0.7
/** Fewer tiles that usually show something tell nothing. */
const TELLING = 6
/** A camera looks elsewhere when this share of them is lost; it is covered when half of those show nothing at all. */
const LOST = 0.6
const FLAT = 0.5
/** Between pictures in alike light; the logarithm of the factor. */
const ALIKE_LIGHT = 0.5
/** Of a picture of night: the logarithm of a mean level of about 40. */
const DIM_LIGHT = 3.9
/** A picture is out of focus below these shares of the usual sharpness, at the two sizes. */
const BLURRED = [0.55, 0.3] as const

export function createViewWatch(kept: UsualViews = []): ViewWatch {
  const slots = new Map(
    kept.slice(-USUAL_MAX).map(({ key, detail, ...rest }) => [key, { ...rest, detail: unpacked(detail) }]),
  )
  let seenAt = -Infinity
  let suspected: { sinceMs: number; pictures: number } | undefined
  let told: ViewFault | undefined
  let right = 0

  /** Of a `new` view nothing is known yet; an `unknown` one may be a wrong one, so nothing is learnt from it. */
  function judge(now: View): ViewFault | 'right' | 'new' | 'unknown' {
    const matches = [...slots].map(([key, usual]) => {
      const { telling, flat, other } = matchOf(now, usual)
      const isOfMode = key.includes(modeOf(now))
      const isAlike = isOfMode && Math.abs(usual.light - now.light) < ALIKE_LIGHT
      return { usual, isOfMode, isAlike, telling, flat, lost: flat + other }
    })
    const telling = matches.filter((match) => match.telling >= TELLING)
    const best = telling.toSorted((a, b) => a.lost - b.lost)[0]
    const isLost = best !== undefined && best.lost >= LOST
    const untold = () => {
      const isNew = !isLost || !(now.isDark || telling.some(({ isOfMode }) => isOfMode))
      return isNew || matchOf(now, now).telling < TELLING ? 'new' : 'unknown'
    }
    // Covered by night or by a lamp that is off: nobody can tell. A black picture is told by another sentence.
    if (!best || now.isDark) return untold()
    const alike = telling.filter(({ isAlike }) => isAlike)
    if (isLost) {
      // It is usual that nothing shows, as in a night without a lamp. By day it was mist, which excuses no cover.
      const isUsuallyEmpty = ({ usual, isAlike, telling }: (typeof matches)[number]) =>
        isAlike && telling < TELLING && usual.light < DIM_LIGHT
      if (matches.some(isUsuallyEmpty)) return untold()
      if (best.flat >= FLAT * best.lost) return 'covered'
      return alike.length > 0 ? 'turned' : untold()
    }
    const same = alike.filter((match) => match.lost < LOST)
    const isBlurred = ({ usual }: { usual: Usual }) =>
      BLURRED.some((share, i) => now.sharpness[i]! < share * usual.sharpness[i]!)
    return same.length > 0 && same.every(isBlurred) ? 'unfocused' : 'right'
  }

  function learn(now: View, at: number): void {
    const key = `${new Date(at).getUTCHours()} ${modeOf(now)} ${Math.floor(now.light / LIGHT_STEP)}`
    const known: Usual = slots.get(key) ?? { ...now, detail: Float32Array.from(now.detail) }
    const towards = (before: number, value: number) => before + LESSON * (value - before)
    slots.delete(key)
    slots.set(key, {
      light: towards(known.light, now.light),
      sharpness: known.sharpness.map((value, i) => towards(value, now.sharpness[i]!)),
      detail: known.detail.map((value, i) => towards(value, now.detail[i]!)),
    })
    if (slots.size > USUAL_MAX) slots.delete(slots.keys().next().value!)
  }

  function take(now: View, atMs: number, at: number): boolean {
    const verdict = judge(now)
    if (verdict === 'new' || verdict === 'unknown') {
      if (told || suspected || verdict === 'unknown') return false
      learn(now, at)
      return true
    }
    if (verdict !== 'right') {
      right = 0
      suspected ??= { sinceMs: atMs, pictures: 0 }
      suspected.pictures++
      if (told || (atMs - suspected.sinceMs >= FAULT_MS && suspected.pictures >= FAULT_PICTURES)) told = verdict
      return false
    }
    suspected = undefined
    right++
    if (right >= RIGHT_PICTURES) told = undefined
    if (told) return false
    learn(now, at)
    return true
  }

  return {
    see({ luma, image, atMs }, at) {
      if (atMs - seenAt < EVERY_MS) return false
      seenAt = atMs
      return take(viewOf(luma, image), atMs, at)
    },
    fault: () => told,
    usual: () => [...slots].map(([key, { detail, ...rest }]) => ({ key, ...rest, detail: packed(detail) })),
  }
}

const modeOf = ({ isGrey }: View) => (isGrey ? 'grey' : 'colour')
const packed = (detail: Float32Array) => Buffer.from(Int8Array.from(detail, Math.round).buffer).toString('base64')

function unpacked(text: string): Float32Array {
  const bytes = new Int8Array(Buffer.from(text, 'base64'))
  return Float32Array.from({ length: VIEW_PLACES }, (_, i) => bytes[i] ?? 0)
}
