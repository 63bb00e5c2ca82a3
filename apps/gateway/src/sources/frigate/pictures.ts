import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import type { Pictures } from '../source.ts'
import type { FrigateClient } from './client.ts'
import { createClipStore } from './clip-store.ts'
import { FrigateError } from './failure.ts'
import type { Health } from './health.ts'
import { readMessage, reviewItem } from './messages.ts'
import type { Progress } from './progress.ts'
import { PICTURE_BYTES_MAX, readJpeg } from './thumbnail.ts'

const HEIGHT_MAX = 2_160
/** A clip begins this long before the event, and ends this long after it. */
const BEFORE_MS = 5_000
const AFTER_MS = 10_000
/** The clip of a longer event ends after this time. */
const CLIP_MAX_MS = 300_000

/** Frigate's own pictures and clips, on demand. Calls reject with FrigateError; a clip also with the disk's error. */
export function createPictures(options: {
  client: FrigateClient
  dataDir: string
  clock: () => number
  health: Pick<Health, 'knows'>
  progress(): Progress | undefined
}): Pictures & { stop(): Promise<void> } {
  const { client, clock, health } = options
  const clips = createClipStore(join(options.dataDir, 'frigate', 'clips'))

  const isOurs = ({ source, camera }: Detection) => (source === undefined ? health.knows(camera) : source === 'frigate')

  /** The tracked object that shows a detection best. */
  async function objectOf({ id }: Detection, signal: AbortSignal): Promise<string | undefined> {
    const known = options.progress()?.get(id)?.objectId
    if (known !== undefined) return known
    try {
      const read = readMessage(reviewItem, await client.read(`/api/review/${encodeURIComponent(id)}`, { signal }))
      return read.problem === undefined ? read.value.data.detections[0] : undefined
    } catch (error) {
      if (error instanceof FrigateError && error.status === 404) return undefined
      throw error
    }
  }

  return {
    async latest(camera, { height, signal }) {
      if (!health.knows(camera)) return undefined
      const scaled = height === undefined ? '' : `?h=${Math.round(Math.min(HEIGHT_MAX, Math.max(1, height)))}`
      const path = `/api/${encodeURIComponent(camera)}/latest.jpg${scaled}`
      const jpeg = await readJpeg(client, path, { maxBytes: PICTURE_BYTES_MAX, signal })
      return jpeg && { jpeg }
    },
    async snapshot(detection, { boxed, signal }) {
      if (!isOurs(detection)) return undefined
      const objectId = await objectOf(detection, signal)
      if (objectId === undefined) return undefined
      const base = `/api/events/${encodeURIComponent(objectId)}`
      const read = (path: string) => readJpeg(client, path, { maxBytes: PICTURE_BYTES_MAX, signal })
      const box = boxed ? '&bbox=1' : ''
      return (await read(`${base}/snapshot.jpg?quality=90${box}`)) ?? (await read(`${base}/thumbnail.jpg`))
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
