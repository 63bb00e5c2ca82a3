import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { z } from 'zod'
import type { Pictures } from '../source.ts'
import type { FrigateClient } from './client.ts'
import { createClipStore } from './clip-store.ts'
import { FrigateError } from './failure.ts'
import type { Health } from './health.ts'
import { isReplay, readMessage, reviewItem, trackedObject } from './messages.ts'
import type { Progress } from './progress.ts'
import { jpegSize } from '../../kernel/jpeg.ts'
import { PICTURE_BYTES_MAX, readPicture } from './thumbnail.ts'

const HEIGHT_MAX = 2_160
/** How many objects of an item are asked for their score. */
const OBJECTS_ASKED = 5
/** Frigate sends previews of an offline camera that are at most this old. */
const PREVIEW_HOURS = 24
/** A clip begins this long before the event, and ends this long after it. */
const BEFORE_MS = 5_000
const AFTER_MS = 10_000
/** The clip of a longer event ends after this time. */
const CLIP_MAX_MS = 300_000

/** Frigate says that a camera is offline after 10 s without a picture. */
const OFFLINE_AGE_MIN_MS = 10_000
const UNKNOWN_AGE_MS = PREVIEW_HOURS * 3_600_000
const previewNames = z.array(z.string().max(300)).max(20_000)

/** Frigate's own pictures and clips, on demand. Calls reject with FrigateError; a clip also with the disk's error. */
export function createPictures(options: {
  client: FrigateClient
  dataDir: string
  clock: () => number
  health: Pick<Health, 'knows' | 'isOffline' | 'lastOnlineAt'>
  progress(): Progress | undefined
}): Pictures & { stop(): Promise<void> } {
  const { client, clock, health } = options
  const clips = createClipStore(join(options.dataDir, 'frigate', 'clips'))

  const isOurs = ({ source, camera }: Detection) => (source === undefined ? health.knows(camera) : source === 'frigate')

  /** The tracked object that shows a detection best. */
  async function objectOf({ id, label }: Detection, signal: AbortSignal): Promise<string | undefined> {
    const progressId = options.progress()?.get(id)?.objectId
    if (progressId !== undefined) return progressId
    const item = await read(reviewItem, `/api/review/${encodeURIComponent(id)}`, signal)
    const ids = item?.data.detections.toSorted() ?? []
    if (ids.length < 2) return ids[0]
    const batch = ids.slice(0, OBJECTS_ASKED)
    const found = await Promise.all(
      batch.map((each) => read(trackedObject, `/api/events/${encodeURIComponent(each)}`, signal)),
    )
    const rank = (object: (typeof found)[number]) => Number(object?.label === label) + (object?.data.score ?? 0) / 2
    return found.toSorted((a, b) => rank(b) - rank(a))[0]?.id ?? ids[0]
  }

  /** Undefined when Frigate does not have it, or it is not readable. */
  async function read<S extends z.ZodType>(schema: S, path: string, signal: AbortSignal) {
    try {
      const answer = readMessage(schema, await client.read(path, { signal }))
      return answer.problem === undefined ? answer.value : undefined
    } catch (error) {
      if (error instanceof FrigateError && error.status === 404) return undefined
      throw error
    }
  }

  /**
   * How old the last preview of an offline camera is. Frigate names previews by their time; when it does not say, the
   * picture is at least as old as the outage that the agent saw.
   */
  async function ageOfPreview(camera: string, signal: AbortSignal): Promise<number> {
    const now = client.now()
    const range = `start/${(now - PREVIEW_HOURS * 3_600).toFixed(3)}/end/${now.toFixed(3)}`
    const path = `/api/preview/${encodeURIComponent(camera)}/${range}/frames`
    const names = await read(previewNames, path, signal).catch(() => undefined)
    const times = (names ?? []).flatMap((name) =>
      Number(/-(\d{1,12}(?:\.\d{1,9})?)\.\w{1,8}$/.exec(name)?.[1] ?? Number.NaN),
    )
    const takenAt = Math.max(...times.filter((at) => at <= now))
    return Number.isFinite(takenAt) ? Math.max(OFFLINE_AGE_MIN_MS, (now - takenAt) * 1_000) : offlineFor(camera)
  }

  function offlineFor(camera: string): number {
    const onlineAt = health.lastOnlineAt(camera)
    return onlineAt === undefined ? UNKNOWN_AGE_MS : Math.max(OFFLINE_AGE_MIN_MS, clock() - onlineAt)
  }

  return {
    async latest(camera, { height, signal }) {
      if (isReplay(camera) || !health.knows(camera)) return undefined
      const scaled = height === undefined ? '' : `?height=${Math.round(Math.min(HEIGHT_MAX, Math.max(1, height)))}`
      const path = `/api/${encodeURIComponent(camera)}/latest.jpg${scaled}`
      const { bytes: jpeg, headers } = await client.readWhole(path, { maxBytes: PICTURE_BYTES_MAX, signal })
      if (!jpegSize(jpeg)) return undefined
      if (headers['x-frigate-offline'] === 'true') return { jpeg, ageMs: await ageOfPreview(camera, signal) }
      // Before 0.18 it is a picture that says that there is none.
      return health.isOffline(camera) ? { jpeg, ageMs: offlineFor(camera) } : { jpeg }
    },
    async snapshot(detection, { boxed, signal }) {
      if (!isOurs(detection)) return undefined
      const objectId = await objectOf(detection, signal)
      if (objectId === undefined) return undefined
      return readPicture(client, objectId, { boxed: boxed ?? false, signal })
    },
    async clip(detection, { range, signal }) {
      if (!isOurs(detection)) return undefined
      const began = Date.parse(detection.startedAt)
      const ended = detection.endedAt === undefined ? clock() : Date.parse(detection.endedAt)
      const from = began - BEFORE_MS
      const to = Math.max(began + 1_000, Math.min(ended + AFTER_MS, from + CLIP_MAX_MS, clock()))
      // The camera's recording by time: all versions of Frigate offer this clip, and differ in the others.
      const path = `/api/${encodeURIComponent(detection.camera)}/start/${from / 1_000}/end/${to / 1_000}/clip.mp4`
      const isWhole = detection.endedAt !== undefined && to === ended + AFTER_MS
      const open = (untilLeft: AbortSignal) => openClip(path, untilLeft)
      return clips.read({ key: isWhole ? path : undefined, open, range, signal })
    },
    stop: clips.stop,
  }

  /** Undefined when Frigate has no recording of that time. */
  async function openClip(path: string, signal: AbortSignal) {
    try {
      return await client.open(path, { signal })
    } catch (error) {
      if (error instanceof FrigateError && (error.status === 400 || error.status === 404)) return undefined
      throw error
    }
  }
}
