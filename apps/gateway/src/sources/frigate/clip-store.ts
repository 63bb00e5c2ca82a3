import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { makePrivateDirectory } from '../../kernel/durable-file.ts'
import { inWords } from '../../kernel/failure.ts'
import { openClipFile } from '../clip-file.ts'
import type { Clip } from '../source.ts'
import { FrigateError } from './failure.ts'

/**
 * Clips on disk for a short time. Frigate streams a clip from FFmpeg without a length and without ranges. Browsers
 * request ranges (Safari plays nothing without them), so a clip is fetched once and then served from a file.
 */
export type ClipStore = {
  /**
   * The clip that `open` gives, or a `range` of it (see `openClipFile`); undefined when `open` gives none. Clips with
   * the same `key` are fetched once; a clip without a key may still grow and is fetched each time. Rejects with
   * FrigateError or the disk's error.
   */
  read(wanted: {
    key: string | undefined
    open(): Promise<Readable | undefined>
    range: string | undefined
    signal: AbortSignal
  }): Promise<Clip | undefined>
  stop(): Promise<void>
}

const CLIP_BYTES_MAX = 128 * 1024 * 1024
/** The newest clips stay. */
const CLIPS_KEPT = 4

export function createClipStore(folder: string): ClipStore {
  /** Resolves when the clips of an earlier run are deleted. */
  let ready: Promise<void> | undefined
  /** By key; the newest last. Concurrent requests for a clip share one download. */
  const clips = new Map<string, Promise<string | undefined>>()

  async function prepare(): Promise<void> {
    await rm(folder, { recursive: true, force: true })
    await makePrivateDirectory(folder)
  }

  async function fetchClip(name: string, open: () => Promise<Readable | undefined>): Promise<string | undefined> {
    ready ??= prepare()
    await ready
    const body = await open()
    if (!body) return undefined
    const path = join(folder, `${name}.mp4`)
    const part = join(folder, `${randomUUID()}.part`)
    try {
      await pipeline(body, limitTo(CLIP_BYTES_MAX), createWriteStream(part, { mode: 0o600 }))
      await rename(part, path)
    } catch (error) {
      await rm(part, { force: true })
      throw error instanceof FrigateError ? error : new FrigateError(`Frigate's clip broke off: ${inWords(error)}.`)
    }
    return path
  }

  async function fetchOnce(key: string, open: () => Promise<Readable | undefined>): Promise<string | undefined> {
    const running = clips.get(key)
    if (running) return running
    const fetching = fetchClip(createHash('sha256').update(key).digest('hex'), open)
    clips.set(key, fetching)
    try {
      const path = await fetching
      if (path === undefined) clips.delete(key)
      else await dropOldest()
      return path
    } catch (error) {
      clips.delete(key)
      throw error
    }
  }

  async function dropOldest(): Promise<void> {
    while (clips.size > CLIPS_KEPT) {
      const [oldest, fetching] = clips.entries().next().value!
      clips.delete(oldest)
      const path = await fetching.catch(() => undefined)
      // Current readers keep the deleted file open.
      if (path !== undefined) await rm(path, { force: true })
    }
  }

  return {
    async read({ key, open, range }) {
      const path = key === undefined ? await fetchClip(randomUUID(), open) : await fetchOnce(key, open)
      if (path === undefined) return undefined
      const clip = await openClipFile(path, range)
      if (key === undefined) clip.body.once('open', () => void rm(path, { force: true }))
      return clip
    },
    async stop() {
      await Promise.allSettled(clips.values())
      if (ready) await ready.then(() => rm(folder, { recursive: true, force: true }))
    },
  }
}

function limitTo(maxBytes: number): Transform {
  let length = 0
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      length += part.length
      if (length > maxBytes) done(new FrigateError("Frigate's clip is too long."))
      else done(null, part)
    },
  })
}
