/**
 * Records one camera around its detections: a picture of each, and a clip from some seconds before the object appeared
 * until some seconds after it left. Detections at the same time share one clip. The seconds before are kept in memory,
 * so a device writes to its disk only when there is something to record.
 */
import type { Logger } from 'pino'
import type { Size } from '@hedgerow/vision'
import { cameraInWords } from '../cameras/camera-error.ts'
import { jpegSize } from '../kernel/jpeg.ts'
import { ClipError, startClipWriter, type ClipInput, type ClipWriter } from './clip-writer.ts'
import type { RecordingFolder } from './folder.ts'
import { createRecentPictures, type RecentPicture } from './recent-pictures.ts'
import type { RecordingSettings } from './schema.ts'
import { createRecentStream } from '../cameras/transport-stream.ts'

/** All times are milliseconds of the camera's clock, which never goes back. */
export type CameraRecorder = {
  /** A picture of a camera that sends JPEG. */
  addPicture(picture: RecentPicture): void
  /** Video as FFmpeg copies it; a new connection begins with undefined. */
  addStream(bytes: Buffer | undefined): void
  /** A detection began. */
  begin(detectionId: string, at: number): void
  end(detectionId: string, at: number): void
  /** The best picture so far of a detection. Never rejects. */
  keepPicture(detectionId: string, jpeg: Buffer): Promise<void>
  /** Whether its clip is not whole yet. */
  isFilming(detectionId: string): boolean
  /** Sentences for people. */
  problems(): string[]
  /** Finishes current recordings. */
  stop(): Promise<void>
}

export type CameraRecorderOptions = {
  camera: string
  framesPerSecond: number
  settings: RecordingSettings
  folder: RecordingFolder
  clock: () => number
  log: Logger
  /** Memory for the seconds before an object appears. */
  memoryBytes: number
}

/** The clip of an object that stays longer ends after this time. */
const CLIP_MAX_MS = 120_000
/** A detection joins the clip that is being made when it has this much left. */
const ROOM_MS = 30_000
const CLIP_BYTES_MAX = 128 * 1024 * 1024
/** The tracker confirms an object some pictures after it appeared. */
const LATE_MS = 3_000
const CHECK_MS = 500

export const pictureName = (detectionId: string): string => `${detectionId}.jpg`
export const clipName = (detectionId: string): string => `${detectionId}.mp4`

type Feed = { take(bytes: Buffer): void; takePicture(picture: RecentPicture): void; flush(): void }
type OpenClip = {
  writer: ClipWriter
  feed: Feed
  part: string
  detections: string[]
  /** The ids of detections that have not ended. */
  present: Set<string>
  beganAt: number
  endsAt: number
  bytes: number
}

export function createCameraRecorder(options: CameraRecorderOptions): CameraRecorder {
  const { camera, settings, folder, clock, log, memoryBytes: maxBytes } = options
  const keepMs = settings.secondsBefore * 1_000 + LATE_MS
  const stream = createRecentStream({ keepMs, maxBytes })
  const pictures = createRecentPictures({ keepMs, maxBytes })
  let lastSize: Size | undefined
  let open: OpenClip | undefined
  let problem: string | undefined
  const finishing = new Set<Promise<void>>()
  /** Detections whose clip is not whole yet. */
  const filmed = new Set<string>()
  const checking = setInterval(() => finishWhenOver(), CHECK_MS)
  checking.unref()

  function inputNow(): ClipInput {
    const coding = stream.coding()
    if (coding === 'other') throw new ClipError('no browser plays the codec of its video; all browsers play H.264')
    if (coding) return { kind: 'stream', coding }
    if (!lastSize) throw new ClipError('it has sent no video yet')
    return { kind: 'pictures', framesPerSecond: options.framesPerSecond, size: lastSize }
  }

  function openClip(detectionId: string, at: number): void {
    const beganAt = at - settings.secondsBefore * 1_000
    const input = inputNow()
    const part = folder.newPart()
    const writer = startClipWriter(part, input)
    const feed = input.kind === 'stream' ? streamFeed(writer) : pictureFeed(writer, input.framesPerSecond)
    const present = new Set([detectionId])
    filmed.add(detectionId)
    open = { writer, feed, part, detections: [detectionId], present, beganAt, endsAt: Infinity, bytes: 0 }
    if (input.kind === 'stream') for (const bytes of stream.since(beganAt)) take(open, bytes)
    else for (const picture of pictures.since(beganAt)) takePicture(open, picture)
  }

  function take(clip: OpenClip, bytes: Buffer): void {
    clip.bytes += bytes.length
    clip.feed.take(bytes)
  }

  function takePicture(clip: OpenClip, picture: RecentPicture): void {
    clip.bytes += picture.jpeg.length
    clip.feed.takePicture(picture)
  }

  function isOver({ endsAt, beganAt, bytes }: OpenClip): boolean {
    const now = clock()
    return now >= endsAt || now >= beganAt + CLIP_MAX_MS || bytes > CLIP_BYTES_MAX
  }

  function finishWhenOver(): void {
    if (open && isOver(open)) finish()
  }

  function finish(): void {
    if (!open) return
    const clip = open
    open = undefined
    const done = keep(clip).finally(() => finishing.delete(done))
    finishing.add(done)
  }

  async function keep({ writer, feed, part, detections }: OpenClip): Promise<void> {
    try {
      feed.flush()
      await writer.finish()
      await folder.adopt(part, detections.map(clipName))
      problem = undefined
    } catch (error) {
      report(error)
    } finally {
      for (const id of detections) filmed.delete(id)
    }
  }

  function report(error: unknown): void {
    const reason = error instanceof ClipError ? error.message : 'it could not be stored'
    problem = `${cameraInWords(camera)}: there are no clips: ${reason}.`
    log.warn({ err: error, camera }, 'no clip of a detection')
  }

  return {
    addPicture(picture) {
      if (!settings.clips) return
      lastSize = jpegSize(picture.jpeg) ?? lastSize
      pictures.add(picture)
      if (open) takePicture(open, picture)
      finishWhenOver()
    },
    addStream(bytes) {
      if (!settings.clips) return
      if (!bytes) {
        finish()
        stream.clear()
        return
      }
      const packets = stream.add(bytes, clock())
      if (open) take(open, packets)
      finishWhenOver()
    },
    begin(detectionId, at) {
      if (!settings.clips) return
      if (open && clock() - open.beganAt > CLIP_MAX_MS - ROOM_MS) finish()
      if (open) {
        open.detections.push(detectionId)
        filmed.add(detectionId)
        open.present.add(detectionId)
        open.endsAt = Infinity
        return
      }
      try {
        openClip(detectionId, at)
      } catch (error) {
        report(error)
      }
    },
    end(detectionId, at) {
      if (!open?.present.delete(detectionId)) return
      if (open.present.size === 0) open.endsAt = at + settings.secondsAfter * 1_000
      finishWhenOver()
    },
    async keepPicture(detectionId, jpeg) {
      await folder.write(pictureName(detectionId), jpeg).catch((error: unknown) => {
        log.warn({ err: error, camera }, 'no picture of a detection')
      })
    },
    isFilming: (detectionId) => filmed.has(detectionId),
    problems: () => (problem === undefined ? [] : [problem]),
    async stop() {
      clearInterval(checking)
      finish()
      await Promise.all(finishing)
    },
  }
}

function streamFeed(writer: ClipWriter): Feed {
  return { take: (bytes) => writer.write(bytes), takePicture: () => {}, flush: () => {} }
}

/** Pictures come unevenly, but a clip has even steps: each step shows the last picture. */
function pictureFeed(writer: ClipWriter, framesPerSecond: number): Feed {
  const stepMs = 1_000 / framesPerSecond
  let last: RecentPicture | undefined
  let nextAt = 0
  return {
    take: () => {},
    takePicture(picture) {
      const before = last?.jpeg
      if (before) for (; nextAt < picture.at; nextAt += stepMs) writer.write(before)
      else nextAt = picture.at
      last = picture
    },
    flush() {
      if (last) writer.write(last.jpeg)
    },
  }
}
