import { jpegSize } from '../../kernel/jpeg.ts'
import { FrigateError } from './failure.ts'
import type { FrigateClient } from './client.ts'

/** The hub's limit for the picture of a detection. */
const THUMBNAIL_BYTES_MAX = 64 * 1024
/** Enough for a snapshot of the whole picture in 4K. */
export const PICTURE_BYTES_MAX = 8 * 1024 * 1024

/**
 * A small picture of a tracked object. The review item's own picture is WebP, not JPEG; a saved snapshot may be too
 * large, and then Frigate's thumbnail is used. Undefined when Frigate has no picture (yet).
 */
export async function readThumbnail(
  client: FrigateClient,
  objectId: string,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const base = `/api/events/${encodeURIComponent(objectId)}`
  for (const path of [`${base}/snapshot.jpg?crop=1&height=360&quality=75`, `${base}/thumbnail.jpg`]) {
    const jpeg = await readJpeg(client, path, { maxBytes: PICTURE_BYTES_MAX, signal })
    if (jpeg && jpeg.length <= THUMBNAIL_BYTES_MAX) return jpeg
  }
  return undefined
}

/** Undefined for an answer 404, and for anything but a JPEG. Rejects with FrigateError. */
export async function readJpeg(
  client: FrigateClient,
  path: string,
  options: { maxBytes: number; signal: AbortSignal },
): Promise<Buffer | undefined> {
  try {
    const bytes = await client.read(path, options)
    return jpegSize(bytes) ? bytes : undefined
  } catch (error) {
    if (error instanceof FrigateError && error.status === 404) return undefined
    throw error
  }
}
