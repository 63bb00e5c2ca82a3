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
   * The clip that `open` gives, or a `range` of it (see `openClipFile`); undefined when `open` gives none, or an empty
   * one. Clips with
   * the same `key` are fetched once, and the fetch ends early only when no reader is left; a clip without a key may
   * still grow and is fetched each time. Rejects with FrigateError, the disk's error, or the reason of `signal`.
   */
  read(wanted: {
    key: string | undefined
    open(signal: AbortSignal): Promise<Readable | undefined>
    range: string | undefined
    signal: AbortSignal
  }): Promise<Clip | undefined>
  stop(): Promise<void>
}

const CLIP_BYTES_MAX = 128 * 1024 * 1024
/** The newest clips stay. */
const CLIPS_KEPT = 4

/** One download for all readers of a clip at the same time. */
type Fetch = {
  path: Promise<string | undefined>
  /** Those who wait for it. */
  readers: number
  /** Ends it if it has not ended; a later reader begins another. */
  abandon(): void
}

export function createClipStore(folder: string): ClipStore {
  /** Resolves when the clips of an earlier run are deleted. */
  let ready: Promise<void> | undefined
  /** By key; the newest last. */
  const clips = new Map<string, Fetch>()

  async function prepare(): Promise<void> {
    await rm(folder, { recursive: true, force: true })
    await makePrivateDirectory(folder)
  }

  async function fetchClip(name: string, open: () => Promise<Readable | undefined>): Promise<string | undefined> {
    ready ??= prepare()
    await ready
    // It may have vanished since.
    await makePrivateDirectory(folder)
    const body = await open()
    if (!body) return undefined
    const path = join(folder, `${name}.mp4`)
    const part = join(folder, `${randomUUID()}.part`)
    try {
      const file = createWriteStream(part, { mode: 0o600 })
      await pipeline(body, limitTo(CLIP_BYTES_MAX), file)
      if (file.bytesWritten === 0) {
        // Frigate answers before its FFmpeg fails.
        await rm(part, { force: true })
        return undefined
      }
      await rename(part, path)
    } catch (error) {
      await rm(part, { force: true })
      throw error instanceof FrigateError ? error : new FrigateError(`Frigate's clip broke off: ${inWords(error)}.`)
    }
    return path
  }

  function fetchOf(key: string, open: (signal: AbortSignal) => Promise<Readable | undefined>): Fetch {
    const running = clips.get(key)
    if (running) return running
    const stopping = new AbortController()
    const path = fetchClip(createHash('sha256').update(key).digest('hex'), () => open(stopping.signal))
    let isDone = false
    const begun: Fetch = {
      path,
      readers: 0,
      abandon() {
        if (isDone) return
        forget()
        stopping.abort()
      },
    }
    function forget(): void {
      if (clips.get(key) === begun) clips.delete(key)
    }
    clips.set(key, begun)
    path.then((found) => {
      isDone = true
      if (found === undefined) forget()
    }, forget)
    return begun
  }

  async function fetchOnce(
    key: string,
    open: (signal: AbortSignal) => Promise<Readable | undefined>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    signal.throwIfAborted()
    const shared = fetchOf(key, open)
    shared.readers += 1
    const { promise: left, reject } = Promise.withResolvers<never>()
    const leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave)
    try {
      const path = await Promise.race([shared.path, left])
      if (path !== undefined) await dropOldest()
      return path
    } finally {
      signal.removeEventListener('abort', leave)
      shared.readers -= 1
      if (shared.readers === 0) shared.abandon()
    }
  }

  async function dropOldest(): Promise<void> {
    while (clips.size > CLIPS_KEPT) {
      const [oldest, fetched] = clips.entries().next().value!
      clips.delete(oldest)
      const path = await fetched.path.catch(() => undefined)
      // Current readers keep the deleted file open.
      if (path !== undefined) await rm(path, { force: true })
    }
  }

  return {
    async read({ key, open, range, signal }) {
      const path =
        key === undefined ? await fetchClip(randomUUID(), () => open(signal)) : await fetchOnce(key, open, signal)
      if (path === undefined) return undefined
      const clip = await openClipFile(path, range)
      if (key === undefined) clip.body.once('open', () => void rm(path, { force: true }))
      return clip
    },
    async stop() {
      await Promise.allSettled([...clips.values()].map(({ path }) => path))
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
