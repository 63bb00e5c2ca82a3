import { jpegSize } from '../../kernel/jpeg.ts'
import { FrigateError } from './failure.ts'
import type { FrigateClient } from './client.ts'

/** The hub's limit for the picture of a detection. */
const THUMBNAIL_BYTES_MAX = 64 * 1024
/** Enough for a snapshot of the whole picture in 4K. */
export const PICTURE_BYTES_MAX = 8 * 1024 * 1024
/** Frigate draws box, label, score and time into a snapshot unless the query says no. */
const BARE = 'bbox=0&timestamp=0'

/**
 * A small picture of a tracked object. The review item's own picture is WebP, not JPEG; a saved snapshot may be too
 * large or have a box in it, and then Frigate's thumbnail is used, which never has one. Undefined when Frigate has no
 * picture (yet).
 */
export async function readThumbnail(
  client: FrigateClient,
  objectId: string,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const snapshot = await readSnapshot(client, objectId, { query: 'crop=1&height=360&quality=75', signal })
  if (snapshot && !snapshot.isDrawn && snapshot.jpeg.length <= THUMBNAIL_BYTES_MAX) return snapshot.jpeg
  const jpeg = await readJpeg(client, `${pathOf(objectId)}/thumbnail.jpg`, { maxBytes: PICTURE_BYTES_MAX, signal })
  return jpeg && jpeg.length <= THUMBNAIL_BYTES_MAX ? jpeg : undefined
}

/** The whole picture of the object; `boxed`: with its box. Undefined when Frigate has none. */
export async function readPicture(
  client: FrigateClient,
  objectId: string,
  { boxed, signal }: { boxed: boolean; signal: AbortSignal },
): Promise<Buffer | undefined> {
  const snapshot = await readSnapshot(client, objectId, { query: 'quality=90', boxed, signal })
  if (!snapshot) return readJpeg(client, `${pathOf(objectId)}/thumbnail.jpg`, { maxBytes: PICTURE_BYTES_MAX, signal })
  if (boxed || !snapshot.isDrawn) return snapshot.jpeg
  return (await readClean(client, objectId, signal)) ?? snapshot.jpeg
}

/**
 * `isDrawn`: Frigate before 0.18 sends the file of an object that has ended as it was saved, with whatever its settings
 * draw. 0.18 names the time of the picture, and an object that goes on is never kept by caches.
 */
async function readSnapshot(
  client: FrigateClient,
  objectId: string,
  { query, boxed = false, signal }: { query: string; boxed?: boolean; signal: AbortSignal },
): Promise<{ jpeg: Buffer; isDrawn: boolean } | undefined> {
  const path = `${pathOf(objectId)}/snapshot.jpg?${query}&${boxed ? 'bbox=1&timestamp=0' : BARE}`
  const answer = await orMissing(client.readWhole(path, { maxBytes: PICTURE_BYTES_MAX, signal }))
  if (!answer || !jpegSize(answer.bytes)) return undefined
  const { 'cache-control': cache = '', 'x-frame-time': time } = answer.headers
  return { jpeg: answer.bytes, isDrawn: time === undefined && !cache.includes('no-store') }
}

/** The copy that Frigate saves without drawings: WebP, or PNG in 0.16. */
async function readClean(client: FrigateClient, objectId: string, signal: AbortSignal): Promise<Buffer | undefined> {
  for (const type of ['webp', 'png']) {
    const path = `${pathOf(objectId)}/snapshot-clean.${type}`
    const bytes = await client.read(path, { maxBytes: PICTURE_BYTES_MAX, signal }).catch(() => undefined)
    signal.throwIfAborted()
    if (!bytes?.length) continue
    // Loaded here: the library takes memory, and newer versions of Frigate do not need it.
    const { toJpeg } = await import('../../cameras/decode.ts')
    const jpeg = await toJpeg(bytes).catch(() => undefined)
    if (jpeg) return jpeg
  }
  return undefined
}

/** Undefined for an answer 404, and for anything but a JPEG. Rejects with FrigateError. */
export async function readJpeg(
  client: FrigateClient,
  path: string,
  options: { maxBytes: number; signal: AbortSignal },
): Promise<Buffer | undefined> {
  const bytes = await orMissing(client.read(path, options))
  return bytes && jpegSize(bytes) ? bytes : undefined
}

/** Undefined when Frigate does not have it. */
async function orMissing<T>(pending: Promise<T>): Promise<T | undefined> {
  try {
    return await pending
  } catch (error) {
    if (error instanceof FrigateError && error.status === 404) return undefined
    throw error
  }
}

const pathOf = (objectId: string): string => `/api/events/${encodeURIComponent(objectId)}`
