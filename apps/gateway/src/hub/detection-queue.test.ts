import { appendFile, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Detection } from '@hedgerow/contract'
import { openDetectionQueue, type DetectionQueue } from './detection-queue.ts'

let directory: string
let queues: DetectionQueue[]
const log = pino({ level: 'silent' })

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hedgerow-queue-'))
  queues = []
})

afterEach(async () => {
  await Promise.all(queues.map((queue) => queue.close()))
  await rm(directory, { recursive: true, force: true })
})

/** An earlier queue on the same folder stays open and unused, as after a crash. */
async function open(limit?: number): Promise<DetectionQueue> {
  const queue = await openDetectionQueue(directory, log, limit)
  queues.push(queue)
  return queue
}

function detections(first: number, count: number, thumbnail?: string): Detection[] {
  return Array.from({ length: count }, (_, index) => ({
    id: String(first + index),
    camera: 'yard',
    label: 'fox',
    severity: 'detection',
    score: 0.5,
    startedAt: '2026-05-01T10:00:00.000Z',
    ...(thumbnail === undefined ? {} : { thumbnail }),
  }))
}

/** Empties the queue as the sender does; returns the ids of each batch. */
async function drain(queue: DetectionQueue): Promise<string[][]> {
  const batches: string[][] = []
  for (let batch = await queue.oldest(); batch; batch = await queue.oldest()) {
    batches.push(batch.detections.map(({ id }) => id))
    await queue.remove(batch)
  }
  return batches
}

/** Base64 that starts with a JPEG's first bytes. */
const jpegOf = (bytes: number) =>
  Buffer.alloc(bytes)
    .fill(Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 0, 4)
    .toString('base64')

const ids = (first: number, count: number) => Array.from({ length: count }, (_, index) => String(first + index))

describe('detections that wait on disk', () => {
  test('come out in order, at most 500 at once, and leave no file', async () => {
    const queue = await open()
    await queue.append(detections(0, 700))
    await queue.append(detections(700, 400))
    expect(queue.waiting()).toBe(1_100)
    const batches = await drain(queue)
    expect(batches.map(({ length }) => length)).toEqual([500, 500, 100])
    expect(batches.flat()).toEqual(ids(0, 1_100))
    expect(await readdir(directory)).toEqual([])
  })

  test('are kept again after their folder vanished; those in it count as lost, until they come back', async () => {
    const queue = await open()
    await queue.append(detections(0, 3))
    await rename(directory, `${directory}-away`)
    await queue.append(detections(3, 2))
    expect([queue.waiting(), queue.dropped()]).toEqual([2, 3])
    expect((await stat(directory)).mode & 0o777).toBe(0o700)
    await rm(directory, { recursive: true })
    expect(await queue.oldest()).toBeUndefined()
    expect([queue.waiting(), queue.dropped()]).toEqual([0, 5])
    await rm(directory, { recursive: true })
    await rename(`${directory}-away`, directory)
    await queue.append(detections(5, 1))
    expect((await drain(queue)).flat()).toEqual(['0', '1', '2', '5'])
  })

  test('survive a restart, and only the owner can read them', async () => {
    await (await open()).append(detections(0, 3))
    const [file] = await readdir(directory)
    expect((await stat(join(directory, file!))).mode & 0o777).toBe(0o600)
    const queue = await open()
    await queue.append(detections(3, 1))
    expect(queue.waiting()).toBe(4)
    expect((await drain(queue)).flat()).toEqual(ids(0, 4))
  })

  test('lose only a line that a power cut left incomplete', async () => {
    await (await open()).append(detections(0, 2))
    const [file] = await readdir(directory)
    await appendFile(join(directory, file!), '{"id":"2","camera":"ya')
    const queue = await open()
    expect(queue.waiting()).toBe(2)
    await queue.append(detections(3, 1))
    expect((await drain(queue)).flat()).toEqual(['0', '1', '3'])
  })

  test('are sent again when the answer was lost; later appends are kept', async () => {
    const queue = await open()
    await queue.append(detections(0, 2))
    const first = await queue.oldest()
    await queue.append(detections(2, 1))
    expect(await queue.oldest()).toEqual(first)
    await queue.remove(first!)
    expect((await drain(queue)).flat()).toEqual(['2'])
  })

  test('with pictures stay small enough for one call', async () => {
    const queue = await open()
    await queue.append(detections(0, 30, jpegOf(60 * 1_024)))
    const batches = await drain(queue)
    expect(batches.length).toBeGreaterThan(2)
    expect(batches.flat()).toEqual(ids(0, 30))
  })

  test('beyond the limit drop the oldest and count them', async () => {
    const queue = await open(1_000)
    for (let first = 0; first < 2_000; first += 250) await queue.append(detections(first, 250))
    expect(queue.waiting()).toBeLessThanOrEqual(1_000)
    expect(queue.dropped() + queue.waiting()).toBe(2_000)
    expect((await drain(queue)).flat()).toEqual(ids(queue.dropped(), 2_000 - queue.dropped()))
  })

  test('leave other files in the folder alone', async () => {
    await writeFile(join(directory, 'README'), 'mine')
    const queue = await open()
    await queue.append(detections(0, 1))
    await drain(queue)
    expect(await readdir(directory)).toEqual(['README'])
  })

  test('of concurrent reports are all kept', async () => {
    const queue = await open()
    await Promise.all(Array.from({ length: 20 }, (_, index) => queue.append(detections(index, 1))))
    expect((await drain(queue)).flat().toSorted()).toEqual(ids(0, 20).toSorted())
  })
})
