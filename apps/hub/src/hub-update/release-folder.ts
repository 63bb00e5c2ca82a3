/** The folder of a release, on this machine or behind an address. Only signed content is trusted. */
import { bytesInWords, type Progress } from '@hedgerow/http'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'

/** The largest size of a signed list. */
const LIST_MAX_BYTES = 512 * 1024
const FILE_MAX_BYTES = 1024 ** 3
const LIST_TIMEOUT_MS = 60_000

export type ReleaseFolder = {
  /** Rejects with the error of the disk or the network, and for more than 512 KiB. */
  list(name: string): Promise<Buffer>
  /** Writes the file to `path`. Rejects and writes nothing when it does not have the hash (lower-case hex). */
  save(file: { name: string; sha256: string; size?: number }, path: string, progress: Progress): Promise<void>
  /** By the clock of the server that answered last, in milliseconds since 1970; undefined for a folder. */
  time(): number | undefined
}

/** `address` is `http://…`, `https://…` or `file:///…`. */
export function openReleaseFolder(address: string): ReleaseFolder {
  const folder = new URL(address.endsWith('/') ? address : `${address}/`)

  let time: number | undefined

  async function open(name: string, signal?: AbortSignal): Promise<Readable> {
    const url = new URL(encodeURIComponent(name), folder)
    if (url.protocol === 'file:') return createReadStream(fileURLToPath(url))
    const answer = await fetch(url, signal ? { signal } : {}).catch(({ message, cause }: Error) => {
      throw new Error(`${url.href}: ${cause instanceof Error ? cause.message || String(cause) : message}`, { cause })
    })
    time = Date.parse(answer.headers.get('date') ?? '') || undefined
    if (answer.ok && answer.body) return Readable.from(answer.body)
    await answer.body?.cancel()
    throw new Error(`${url.href} answered ${answer.status}`)
  }

  return {
    async list(name) {
      const parts: Buffer[] = []
      for await (const part of limited(await open(name, AbortSignal.timeout(LIST_TIMEOUT_MS)), name, LIST_MAX_BYTES))
        parts.push(part)
      return Buffer.concat(parts)
    },
    time: () => time,
    async save({ name, sha256, size }, path, progress) {
      const unfinished = `${path}.unfinished`
      const hash = createHash('sha256')
      let done = 0
      try {
        await pipeline(
          limited(await open(name), name, FILE_MAX_BYTES),
          async function* (parts: AsyncIterable<Buffer>) {
            for await (const part of parts) {
              hash.update(part)
              done += part.length
              progress.show(`Fetching ${name}`, bytesInWords(done, size))
              yield part
            }
          },
          createWriteStream(unfinished, { mode: 0o600, flush: true }),
        )
        if (hash.digest('hex') !== sha256) throw new Error(`${name} does not have the hash that its list names`)
        await rename(unfinished, path)
      } finally {
        await rm(unfinished, { force: true })
      }
    },
  }
}

async function* limited(from: Readable, name: string, maxBytes: number): AsyncGenerator<Buffer> {
  let length = 0
  for await (const part of from as AsyncIterable<Uint8Array>) {
    length += part.length
    if (length > maxBytes) throw new Error(`${name} is too long`)
    yield Buffer.from(part)
  }
}
