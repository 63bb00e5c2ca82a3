/**
 * One camera: restarts its reader, takes the pictures that are due, and describes problems in words. Pictures that come
 * faster than configured, or while the last one is still being processed, are dropped: nothing queues.
 */
import { lumaOf, type Plane } from '@hedgerow/vision'
import type { Logger } from 'pino'
import { createBackoff, createPause } from '../kernel/backoff.ts'
import { CameraError, cameraInWords, SignInRefused } from './camera-error.ts'
import { encodeJpeg } from './decode.ts'
import { createFreezeWatch, frozenWords } from './freeze.ts'
import type { Picture, PictureReader } from './picture-reader.ts'
import type { CameraSettings } from './schema.ts'
import { openSignIn } from './sign-in.ts'
import type { ViewFault } from './view-watch.ts'

export type Frame = Picture & {
  luma: Plane
  /** Milliseconds of a clock that never goes back. */
  atMs: number
}

export type Camera = {
  readonly name: string
  /** `frozen`: it sends the same picture again and again. */
  state(): { name: string; state: 'online' | 'frozen' | 'offline' | ViewFault; fps: number }
  /** Sentences for people. */
  problems(): string[]
  /** The newest picture as JPEG; undefined before the first. */
  latest(): Promise<{ jpeg: Buffer; ageMs: number } | undefined>
  stop(): Promise<void>
}

export type CameraOptions = {
  name: string
  /** The subject of the sentences about it; its name when left out. */
  called?: string
  settings: CameraSettings
  /** For times in sentences; the device's own when left out. */
  timeZone?: string | undefined
  log: Logger
  /** Milliseconds of a clock that never goes back; the process's own when left out. */
  clock?: () => number
  /** Compares its pictures with its usual ones; nothing does when left out. */
  view?: { see(frame: Frame): void; fault(): ViewFault | undefined }
  /** Processes a picture; the next one is taken when it resolves. */
  onFrame(frame: Frame): Promise<void> | void
  /** Receives the MPEG transport stream of a camera that FFmpeg opens; undefined at the start of each connection. */
  onStream?(bytes: Buffer | undefined): void
}

const RECONNECT = { firstMs: 500, maxMs: 30_000 }
/** How often a camera that waits for its sign-in looks whether it may try. */
const SIGN_IN_LOOK_MS = 500
/** After this time without a picture, a camera is offline and its connection starts again. */
const SILENCE_MS = 10_000
/** The first picture may take longer. */
const FIRST_PICTURE_MS = 20_000
/** At the start FFmpeg holds about 25 pictures back; a camera with one picture a second needs this long for them. */
const FIRST_PICTURE_THROUGH_FFMPEG_MS = 45_000
const RATE_MS = 10_000
/** The rate is measured over at least this many pictures. */
const RATE_PICTURES = 4
/** A picture is due after this share of the interval, because clocks of cameras are not exact. */
const EARLY = 0.8
/**
 * The shortest time between two pictures, as a share of the interval: after a gap FFmpeg repeats its last picture, all
 * at once, and one of them is enough.
 */
const APART = 0.4
/** This many damaged parts within this time are reported. */
const DAMAGE_MS = 30_000
const DAMAGES_SHOWN = 5
const DARK_MS = 30_000
const DARK_LEVEL = 6
/** Below this share of the configured rate, a camera is slow. */
const SLOW = 0.5
/** When more than this share of its pictures is missed, the device is too slow for a camera. */
const MISSED = 0.3

export function openCamera(options: CameraOptions): Camera {
  const { name, settings, log, onFrame, clock = () => performance.now() } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const backoff = createBackoff(RECONNECT)
  const signIn = openSignIn(settings.url, clock)
  const { pause } = createPause(signal)
  const startedAt = clock()
  const { called = cameraInWords(name) } = options
  const intervalMs = 1_000 / settings.framesPerSecond
  const rateMs = Math.max(RATE_MS, RATE_PICTURES * intervalMs)
  let lastFrame: Frame | undefined
  let failure: CameraError | undefined
  let damage: CameraError | undefined
  let looking: Promise<void> | undefined
  const isDue = createPace(settings.framesPerSecond)
  /** When the first picture came after a time without pictures. */
  let firstAt = 0
  /** When the pictures of the last seconds were taken. */
  let takenAt: number[] = []
  let darkSince: number | undefined
  const freeze = createFreezeWatch()
  /** Since when it is frozen, in milliseconds since 1970. */
  let frozenSince: number | undefined
  let damagedAt: number[] = []
  /** The times at which a picture was due while the last one was still being processed. */
  let missedAt: number[] = []

  function offer(decode: () => Promise<Picture>): void {
    const now = clock()
    if (signal.aborted || !isDue(now)) return
    if (looking) {
      missedAt = [...missedAt.filter((at) => now - at < RATE_MS), now]
      return
    }
    looking = take(decode).finally(() => (looking = undefined))
  }

  async function take(decode: () => Promise<Picture>): Promise<void> {
    try {
      const picture = await decode()
      const frame = { ...picture, luma: lumaOf(picture.image), atMs: clock() }
      note(frame)
      await onFrame(frame)
    } catch (error) {
      if (error instanceof CameraError) damage = error
      else log.error({ err: error, camera: name }, 'a picture could not be processed')
    }
  }

  function note(frame: Frame): void {
    if (!isOnline()) {
      firstAt = frame.atMs
      takenAt = []
    }
    // Not at its own resolution: that takes megabytes, for each camera.
    const { own: _own, ...stored } = frame
    lastFrame = stored
    failure = undefined
    damage = undefined
    backoff.reset()
    takenAt = [...takenAt.filter((at) => frame.atMs - at < rateMs), frame.atMs]
    darkSince = isDark(frame.luma) ? (darkSince ?? frame.atMs) : undefined
    noteFreeze(frame)
    options.view?.see(frame)
  }

  function noteFreeze({ luma, atMs }: Frame): void {
    freeze.see(luma, atMs)
    const found = freeze.frozen()
    if ((found === undefined) === (frozenSince === undefined)) return
    frozenSince = found && Date.now() - (atMs - found.sinceMs)
    log.warn({ camera: name }, found === undefined ? 'the picture of a camera changes again' : 'a camera is frozen')
  }

  function noteDamage(): void {
    const now = clock()
    damagedAt = [...damagedAt.filter((at) => now - at < DAMAGE_MS), now].slice(-DAMAGES_SHOWN)
  }

  const lastAt = () => lastFrame?.atMs ?? -Infinity
  const isOnline = () => clock() - lastAt() < SILENCE_MS

  /** Runs one connection, from its beginning to its failure or its silence. */
  async function connect(): Promise<void> {
    const connection = new AbortController()
    let hasBegun = false
    const openedAt = clock()
    const firstPictureMs = isOverHttp(settings) ? FIRST_PICTURE_MS : FIRST_PICTURE_THROUGH_FFMPEG_MS
    const watch = setInterval(() => {
      const isSilent = lastAt() > openedAt ? clock() - lastAt() > SILENCE_MS : clock() - openedAt > firstPictureMs
      if (isSilent) connection.abort()
    }, 1_000)
    try {
      const context = {
        offer(decode: () => Promise<Picture>) {
          if (!hasBegun) signIn.accepted()
          hasBegun = true
          offer(decode)
        },
        /** Between two snapshots another channel may have learnt that the password is wrong now. */
        async pause(ms: number) {
          await pause(ms)
          if (signIn.waitMinutes() !== undefined) throw new SignInRefused()
        },
        noteKeyFrame: freeze.keyFrame,
        noteCodedKeyFrame: (hash: string) => freeze.coded(hash, clock()),
        noteDamage,
        onStream: options.onStream,
        signal: AbortSignal.any([signal, connection.signal]),
        log,
      }
      await (
        await readerFor(settings)
      )(settings, context)
      if (connection.signal.aborted) throw damage ?? new CameraError('it sends no picture')
    } catch (error) {
      if (signal.aborted) return
      const isSilent = connection.signal.aborted
      if (!isSilent && !(error instanceof CameraError)) throw error
      // The reason why its pictures were unusable says more than the silence in which the connection ended.
      const diagnosis = isSilent ? damage : undefined
      failure = diagnosis ?? (error instanceof CameraError ? error : new CameraError('it sends no picture'))
      log.warn({ camera: name, reason: failure.message }, 'a camera gives no pictures')
    } finally {
      clearInterval(watch)
    }
  }

  /** Ends at once for a new password, because it is another account. */
  async function waitForSignIn(): Promise<void> {
    for (; !signal.aborted && !signIn.mayTry(); await pause(SIGN_IN_LOOK_MS)) {
      const minutes = signIn.waitMinutes()
      if (minutes === undefined) continue
      const words = minutes === 1 ? 'a minute' : `${minutes} minutes`
      failure = new CameraError(
        `${new SignInRefused().message}. It is asked again after ${words}, because cameras lock an account`,
      )
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await waitForSignIn()
      if (signal.aborted) return
      await connect()
      const isRefused = failure instanceof SignInRefused
      signIn.ended({ isRefused })
      if (!isRefused) await pause(backoff.next())
    }
  }

  const done = run()
    .catch((error: unknown) => {
      failure = new CameraError('the gateway stopped reading it after an internal error')
      log.error({ err: error, camera: name }, 'reading a camera ended')
    })
    .finally(() => signIn.ended({ isRefused: false }))

  function isBehind(now: number): boolean {
    const missed = missedAt.filter((at) => now - at < RATE_MS).length
    return missed > (MISSED * settings.framesPerSecond * RATE_MS) / 1_000
  }

  /** Pictures a second; 0 until two have come. The time before the first one does not count. */
  function fps(): number {
    const now = clock()
    const { length } = takenAt.filter((at) => now - at < rateMs)
    const isYoung = now - firstAt < rateMs
    const [pictures, overMs] = isYoung ? [length - 1, Math.max(lastAt(), now - intervalMs) - firstAt] : [length, rateMs]
    return pictures < 1 ? 0 : Math.round((pictures * 10_000) / overMs) / 10
  }

  return {
    name,
    state: () => ({
      name,
      state: isOnline() ? (frozenSince === undefined ? (options.view?.fault() ?? 'online') : 'frozen') : 'offline',
      fps: fps(),
    }),
    problems() {
      const now = clock()
      if (failure) return [`${called} gives no pictures: ${failure.message}.`]
      if (damage) return [`${called}: ${damage.message}.`]
      if (!isOnline()) return now - startedAt > FIRST_PICTURE_MS ? [`${called} gives no pictures.`] : []
      if (darkSince !== undefined && now - darkSince > DARK_MS)
        return [`${called}: its picture is black. Is it covered, or its light off?`]
      if (frozenSince !== undefined)
        return [`${called}: ${frozenWords(freeze.frozen()?.what, frozenSince, options.timeZone)}.`]
      const fault = options.view?.fault()
      if (fault) return [`${called}: ${FAULT_WORDS[fault]}`]
      if (damagedAt.length === DAMAGES_SHOWN && now - damagedAt[0]! < DAMAGE_MS)
        return [`${called}: its video comes damaged. Is its network too weak?`]
      if (isBehind(now))
        return [
          `${called}: this device is too slow for ${settings.framesPerSecond} pictures a second; some are dropped.`,
        ]
      if (now - firstAt > 3 * rateMs && fps() < SLOW * settings.framesPerSecond)
        return [`${called} sends ${fps()} of ${settings.framesPerSecond} pictures a second.`]
      return []
    },
    async latest() {
      if (!lastFrame) return undefined
      const { jpeg, image, atMs } = lastFrame
      return { jpeg: jpeg ?? (await encodeJpeg(image)), ageMs: clock() - atMs }
    },
    async stop() {
      stopping.abort()
      await done
      await looking
    },
  }
}

const FAULT_WORDS: Readonly<Record<ViewFault, string>> = {
  covered: 'it is covered.',
  turned: 'it was turned, or something stands before it.',
  unfocused: 'its picture is out of focus.',
}

/** Loaded when a camera needs it, so that a gateway without cameras saves the memory. */
async function readerFor(settings: CameraSettings): Promise<PictureReader> {
  return isOverHttp(settings)
    ? (await import('./http-camera.ts')).readHttpCamera
    : (await import('./ffmpeg.ts')).readThroughFfmpeg
}

function isOverHttp({ url }: CameraSettings): boolean {
  return /^https?:/i.test(url)
}

/** Whether a picture that comes at `now`, in milliseconds, is due; the next one is due an interval later. */
export function createPace(framesPerSecond: number): (now: number) => boolean {
  const intervalMs = 1_000 / framesPerSecond
  let nextAt = -Infinity
  return (now) => {
    if (now < nextAt - intervalMs * (1 - EARLY)) return false
    nextAt = Math.max(nextAt + intervalMs, now + intervalMs * APART)
    return true
  }
}

/** Hardly any pixel is brighter than the noise of a covered lens. */
function isDark({ data }: Plane): boolean {
  let bright = 0
  for (let at = 0; at < data.length; at += 7) if (data[at]! > DARK_LEVEL) bright++
  return bright < data.length / 7 / 500
}
