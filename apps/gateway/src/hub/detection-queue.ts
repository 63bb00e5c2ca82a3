import { open, readFile, rm, type FileHandle } from 'node:fs/promises'
import { detection, type Detection } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { syncPath } from '../kernel/durable-file.ts'
import { numberedFiles } from '../kernel/numbered-files.ts'

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

export async function openDetectionQueue(
  directory: string,
  log: Logger,
  limit = WAITING_LIMIT,
): Promise<DetectionQueue> {
  const { pathOf, list } = numberedFiles(directory)
  const files: QueueFile[] = []
  let nextNumber = 1
  let dropped = 0
  let droppedAt: number | undefined
  /** The open handle of the last of `files`; undefined once that file is closed. */
  let newest: FileHandle | undefined
  /** Runs appends, reads and removals one after the other. */
  let turn: Promise<unknown> = Promise.resolve()
  let onAppend = () => {}

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

  /** Files may vanish and come back, such as with the disk that they are on. */
  async function look(): Promise<void> {
    const numbers = await list()
    const gone = files.filter(({ number }) => !numbers.includes(number))
    // Its handle would take detections for a file without a name.
    if (newest && gone.includes(files.at(-1)!)) await closeNewest().catch(() => {})
    const remaining = files.filter((file) => !gone.includes(file))
    for (const number of numbers) {
      if (remaining.some((file) => file.number === number)) continue
      // A file that comes back before the newest is not written to.
      if (newest && number > files.at(-1)!.number) await closeNewest()
      const text = await readFile(pathOf(number), 'utf8')
      remaining.push({ number, count: parseLines(text).length, bytes: Buffer.byteLength(text) })
      nextNumber = Math.max(nextNumber, number + 1)
    }
    files.splice(0, Infinity, ...remaining.toSorted((a, b) => a.number - b.number))
    const lost = gone.reduce((sum, { count }) => sum + count, 0)
    if (lost === 0) return
    countDropped(lost)
    log.error({ lost, dropped }, 'detections that waited for the hub have vanished from the disk')
  }

  async function appendInTurn(detections: readonly Detection[]): Promise<void> {
    try {
      await look()
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

  await look()
  return {
    append: (detections) => inTurn(() => appendInTurn(detections)),
    onAppend(listener) {
      onAppend = listener
    },
    oldest: (behind) =>
      inTurn(async () => {
        await look()
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
