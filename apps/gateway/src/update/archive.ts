import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { bytesInWords, GatheredBytes } from '@hedgerow/http'
import type { ReleaseFile } from '@hedgerow/releases'
import { createBackoff } from '../kernel/backoff.ts'
import type { Download } from '../hub/tunnel-download.ts'

/** The largest size of a signed list. */
const LIST_MAX_BYTES = 512 * 1024
const SILENCE_MS = 60_000
/** Gives up after this many consecutive downloads without a byte. */
const TRIES = 5
const PAUSE = { firstMs: 1_000, maxMs: 60_000 }
const UNPACK_TIMEOUT_MS = 900_000

/** Another attempt would fetch the same archive. */
class WrongArchive extends Error {}

/** Rejects with the network's error. */
export async function fetchList(download: Download, name: string, signal: AbortSignal): Promise<string> {
  const list = new GatheredBytes()
  for await (const part of partsOf(await download(name, { from: 0, signal }))) {
    list.add(part)
    if (list.length > LIST_MAX_BYTES) throw new Error(`${name} is too long`)
  }
  return list.take().toString()
}

/**
 * Writes the archive to `path`; an interrupted download continues where it ended. Rejects with the network's or the
 * disk's error, or when the bytes are not those that the list names; then there is no such file.
 */
export async function fetchArchive(
  path: string,
  { name, size, sha256 }: Pick<ReleaseFile, 'name' | 'size' | 'sha256'>,
  {
    download,
    signal,
    pause = PAUSE,
    onProgress = () => {},
  }: {
    download: Download
    signal: AbortSignal
    pause?: typeof PAUSE
    /** Called about ten times, in words. */
    onProgress?: (how: string) => void
  },
): Promise<void> {
  const hash = createHash('sha256')
  const backoff = createBackoff(pause)
  const file = await open(path, 'w', 0o600)
  let received = 0
  let reportedBytes = 0
  try {
    for (let fruitless = 0; received < size;) {
      const before = received
      const answer = await download(name, { from: received, signal }).catch((error: unknown) => error)
      const broken =
        answer instanceof Error || answer === undefined ? answer : await take(answer as IncomingMessage).catch(asError)
      if (received === size) break
      fruitless = received > before ? 0 : fruitless + 1
      const isFinal = broken instanceof WrongArchive || isOfDisk(broken) || fruitless === TRIES
      if (signal.aborted || isFinal) throw broken ?? new Error(`${name} ends too early`)
      await delay(backoff.next(), undefined, { signal })
    }
    if (hash.digest('hex') !== sha256) throw new WrongArchive(`${name} does not have the hash that its list names`)
  } catch (error) {
    await rm(path, { force: true }).catch(() => {})
    throw error
  } finally {
    await file.close()
  }

  async function take(answer: IncomingMessage): Promise<undefined> {
    for await (const part of partsOf(answer)) {
      if (received + part.length > size) throw new WrongArchive(`${name} is longer than its list names`)
      await file.writeFile(part)
      hash.update(part)
      received += part.length
      if (received - reportedBytes < size / 10) continue
      reportedBytes = received
      onProgress(bytesInWords(received, size))
    }
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'].includes(String(error.code))
}

/** The parts of a body. Throws when the answer is silent for a minute. */
async function* partsOf(answer: IncomingMessage): AsyncGenerator<Buffer> {
  const timer = setTimeout(() => answer.destroy(new Error('no byte came for a minute')), SILENCE_MS)
  try {
    for await (const part of answer) {
      timer.refresh()
      yield part as Buffer
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Rejects with tar's message. The archive must be one that a release key signed. */
export async function unpack(archive: string, directory: string): Promise<void> {
  const options = ['--strip-components=1', '--no-same-owner']
  await promisify(execFile)('tar', ['-xf', archive, '-C', directory, ...options], { timeout: UNPACK_TIMEOUT_MS })
}
