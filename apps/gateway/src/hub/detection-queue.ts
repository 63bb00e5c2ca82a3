import { open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { detection, type Detection } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { makePrivateDirectory, syncPath } from '../kernel/durable-file.ts'

/**
 * Stores detections on disk until the hub has them: a folder of numbered files, one JSON line for each detection. One
 * call to the hub sends one file. New detections go to the newest file; the oldest file is sent, then removed. A crash
 * can send a file twice, which the hub's upsert absorbs, but never loses an accepted detection. When too many wait, the
 * oldest file is dropped and its detections are counted.
 */
export type DetectionQueue = {
  /** Resolves when they are on disk; rejects with the disk's error. */
  append(detections: readonly Detection[]): Promise<void>
  /** Called after each append. */
  onAppend(listener: () => void): void
  /** The oldest detections, or those behind a batch; at most 500, in order. Undefined when none wait. */
  oldest(behind?: DetectionBatch): Promise<DetectionBatch | undefined>
  /** For a batch that the hub has, or refused for good. */
  remove(batch: DetectionBatch): Promise<void>
  waiting(): number
  /** Count since start: the queue was full, or the hub refused them for good. */
  dropped(): number
  /** The time of the last drop, in milliseconds since 1970. */
  droppedAt(): number | undefined
  /** Counts detections that the hub refused for good. */
  countRefused(count: number): void
  close(): Promise<void>
}

export type DetectionBatch = { fileNumber: number; detections: Detection[] }

type QueueFile = { number: number; count: number; bytes: number }

/** The contract's limit for one call. */
const FILE_COUNT_LIMIT = 500
/** Keeps one call with thumbnails well under the hub's body limit. */
const FILE_BYTES_LIMIT = 768 * 1024
const WAITING_LIMIT = 10_000
const WAITING_BYTES_LIMIT = 256 * 1024 * 1024

const FILE_NAME = /^(\d{12})\.jsonl$/

export async function openDetectionQueue(
  directory: string,
  log: Logger,
  limit = WAITING_LIMIT,
): Promise<DetectionQueue> {
  await makePrivateDirectory(directory)
  const files = await readQueueFiles(directory)
  let nextNumber = (files.at(-1)?.number ?? 0) + 1
  let dropped = 0
  let droppedAt: number | undefined
  /** The open handle of the last of `files`; undefined once that file is closed. */
  let newest: FileHandle | undefined
  /** Runs appends, reads and removals one after the other. */
  let turn: Promise<unknown> = Promise.resolve()
  let onAppend = () => {}

  const pathOf = (number: number) => join(directory, `${String(number).padStart(12, '0')}.jsonl`)
  const waiting = () => files.reduce((total, file) => total + file.count, 0)

  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = turn.then(action)
    turn = result.catch(() => {})
    return result
  }

  async function closeNewest(): Promise<void> {
    const handle = newest
    newest = undefined
    try {
      await handle?.sync()
    } finally {
      await handle?.close()
    }
  }

  async function fileFor(bytes: number): Promise<{ handle: FileHandle; file: QueueFile }> {
    const last = files.at(-1)
    if (newest && last && last.count < FILE_COUNT_LIMIT && last.bytes + bytes <= FILE_BYTES_LIMIT)
      return { handle: newest, file: last }
    await closeNewest()
    const file = { number: nextNumber++, count: 0, bytes: 0 }
    newest = await open(pathOf(file.number), 'ax', 0o600)
    files.push(file)
    await syncPath(directory)
    return { handle: newest, file }
  }

  async function appendInTurn(detections: readonly Detection[]): Promise<void> {
    try {
      for (const entry of detections) {
        const line = Buffer.from(`${JSON.stringify(entry)}\n`)
        const { handle, file } = await fileFor(line.length)
        await handle.write(line)
        file.count += 1
        file.bytes += line.length
      }
      await newest?.sync()
    } catch (error) {
      // An incomplete line stays last in its file, where parseLines() skips it.
      await closeNewest().catch(() => {})
      throw error
    }
    await dropOldest()
    onAppend()
  }

  function countDropped(count: number): void {
    dropped += count
    droppedAt = Date.now()
  }

  async function dropOldest(): Promise<void> {
    let count = waiting()
    let bytes = files.reduce((total, file) => total + file.bytes, 0)
    let lost = 0
    while (files.length > 1 && (count > limit || bytes > WAITING_BYTES_LIMIT)) {
      const oldest = files.shift()!
      await rm(pathOf(oldest.number), { force: true })
      count -= oldest.count
      bytes -= oldest.bytes
      lost += oldest.count
    }
    if (lost === 0) return
    countDropped(lost)
    log.warn({ lost, dropped }, 'dropped the oldest detections: too many wait for the hub')
  }

  return {
    append: (detections) => inTurn(() => appendInTurn(detections)),
    onAppend(listener) {
      onAppend = listener
    },
    oldest: (behind) =>
      inTurn(async () => {
        const file = files.find(({ number }) => number > (behind?.fileNumber ?? 0))
        if (!file) return undefined
        if (file === files.at(-1)) await closeNewest()
        return { fileNumber: file.number, detections: parseLines(await readFile(pathOf(file.number), 'utf8')) }
      }),
    remove: (batch) =>
      inTurn(async () => {
        const index = files.findIndex((file) => file.number === batch.fileNumber)
        // dropOldest() may have removed the file meanwhile.
        if (index < 0) return
        files.splice(index, 1)
        await rm(pathOf(batch.fileNumber), { force: true })
        await syncPath(directory)
      }),
    waiting,
    dropped: () => dropped,
    droppedAt: () => droppedAt,
    countRefused: countDropped,
    close: () => inTurn(closeNewest),
  }
}

async function readQueueFiles(directory: string): Promise<QueueFile[]> {
  const numbers = (await readdir(directory)).flatMap((name) => FILE_NAME.exec(name)?.[1] ?? []).map(Number)
  const files: QueueFile[] = []
  for (const number of numbers.sort((a, b) => a - b)) {
    const text = await readFile(join(directory, `${String(number).padStart(12, '0')}.jsonl`), 'utf8')
    files.push({ number, count: parseLines(text).length, bytes: Buffer.byteLength(text) })
  }
  return files
}

/** Skips a line that a crash or a full disk cut off: it was never accepted. */
function parseLines(text: string): Detection[] {
  return text.split('\n').flatMap((line) => {
    try {
      const parsed = detection.safeParse(JSON.parse(line))
      return parsed.success ? [parsed.data] : []
    } catch {
      return []
    }
  })
}
