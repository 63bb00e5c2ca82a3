import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection, LedgerEntry } from '@hedgerow/contract'
import { pino } from 'pino'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { mayBeOfContent, post as postOverHttp, readAnswer } from '../kernel/http-call.ts'
import { openDetectionQueue, type DetectionQueue } from './detection-queue.ts'
import { keepSendingDetections } from './detections.ts'
import { createHubFeatures } from './features.ts'
import { keepSendingLedger } from './ledger.ts'
import type { Post } from './sending.ts'

const log = pino({ level: 'silent' })
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-refusals-'))
  onTestFinished(() => rm(folder, { recursive: true }))
})

type Answer = { status: number; body: string; retryAfter?: string; isCutOff?: boolean }
const TAKEN: Answer = { status: 200, body: '{"accepted":1}' }

/** A hub that answers as `answer` says to the ids that it gets. */
async function startHub(answer: (ids: string[]) => Answer) {
  const taken = new Set<string>()
  let calls = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { detections?: Detection[]; entries?: LedgerEntry[] }
    const ids = [...(body.detections ?? []), ...(body.entries ?? [])].map(({ id }) => String(id))
    calls++
    const { status, body: text, retryAfter, isCutOff } = answer(ids)
    if (status === 200) for (const id of ids) taken.add(id)
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(retryAfter && { 'retry-after': retryAfter }),
      ...(isCutOff && { 'content-length': text.length + 9 }),
    })
    if (isCutOff) response.write(text, () => response.destroy())
    else response.end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stopping = new AbortController()
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { signal } = stopping
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const post = (async (call, body) =>
    readAnswer(
      await postOverHttp({ url, body: Buffer.from(JSON.stringify(body)), timeoutMs: 5_000, signal }),
      call.response,
    )) as Post
  return {
    taken: () => [...taken].map(Number).toSorted((a, b) => a - b),
    calls: () => calls,
    post,
    signal,
    stop: () => stopping.abort(),
  }
}

const detections = (first: number, count: number): Detection[] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(first + index),
    camera: 'yard',
    label: 'fox',
    severity: 'detection',
    score: 0.5,
    startedAt: '2026-05-01T10:00:00.000Z',
  }))

async function send(hub: Awaited<ReturnType<typeof startHub>>): Promise<DetectionQueue & { wake(): void }> {
  const queue = await openDetectionQueue(join(folder, 'queue'), log)
  const features = createHubFeatures()
  features.learn([])
  const { post, signal } = hub
  const { wake, done } = keepSendingDetections({ queue, wayToHub: () => post, features, log, signal })
  onTestFinished(async () => {
    hub.stop()
    await done
    await queue.close()
  })
  return { ...queue, wake }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const SOON = { timeout: 15_000 }

test.each([
  { status: 422, body: '{"error":"too_furry","message":"No foxes."}' },
  { status: 418, body: 'a teapot' },
  { status: 404, body: '<html>nginx</html>' },
  { status: 403, body: '<html>firewall</html>' },
  { status: 418, body: 'x'.repeat(200_000) },
  { status: 418, body: 'cut', isCutOff: true },
  { status: 400, body: '{"error":"invalid_json","message":"m"}' },
  { status: 415, body: '{"error":"unsupported_media_type","message":"m"}' },
  { status: 404, body: '{"error":"not_found","message":"m"}' },
])('a refusal of something that was sent ($status $body) holds up nothing else', async (refusal) => {
  const hub = await startHub((ids) => (ids.some((id) => ['7', '8'].includes(id)) ? refusal : TAKEN))
  const queue = await send(hub)
  await queue.append(detections(1, 20))
  queue.wake()
  await expect.poll(hub.taken, SOON).toEqual(numbers(1, 20).filter((id) => id !== 7 && id !== 8))
  await expect.poll(queue.waiting, SOON).toBe(0)
  expect(queue.dropped()).toBe(2)
})

test('a single one that is refused waits until others are accepted, and is then dropped', async () => {
  const hub = await startHub((ids) => (ids.includes('1') ? { status: 422, body: '{}' } : TAKEN))
  const queue = await send(hub)
  await queue.append(detections(1, 1))
  queue.wake()
  await expect.poll(hub.calls, SOON).toBeGreaterThan(1)
  expect([queue.waiting(), queue.dropped()]).toEqual([1, 0])
  await queue.append(detections(2, 3))
  queue.wake()
  await expect.poll(hub.taken, SOON).toEqual([2, 3, 4])
  await expect.poll(queue.waiting, SOON).toBe(0)
  expect(queue.dropped()).toBe(1)
})

test('a hub or a proxy that refuses everything for a while loses nothing', async () => {
  let isBroken = true
  const hub = await startHub(() => (isBroken ? { status: 404, body: '<html>nginx</html>' } : TAKEN))
  const queue = await send(hub)
  await queue.append(detections(1, 300))
  queue.wake()
  await expect.poll(hub.calls, SOON).toBeGreaterThan(60)
  expect([queue.waiting(), queue.dropped()]).toEqual([300, 0])
  isBroken = false
  queue.wake()
  await expect.poll(hub.taken, { timeout: 40_000 }).toEqual(numbers(1, 300))
  expect(queue.dropped()).toBe(0)
}, 60_000)

test('the ledger goes on past an entry that is refused', async () => {
  const hub = await startHub((ids) => (ids.includes('2') ? { status: 422, body: '{}' } : TAKEN))
  const entries = numbers(1, 5).map((id) => ({ id, at: id, kind: 'armed', by: { kind: 'program' } }) as const)
  const features = createHubFeatures()
  features.learn(['ledger'])
  const { done } = keepSendingLedger({
    deterrents: {
      ledger: async () => [entries.at(-1)!],
      ledgerAfter: async (id, limit) => entries.filter((entry) => entry.id > id).slice(0, limit),
      onEntry: () => {},
    },
    path: join(folder, 'cursor.json'),
    gatewayId: () => 'g',
    wayToHub: () => hub.post,
    features,
    log,
    signal: hub.signal,
  })
  onTestFinished(async () => {
    hub.stop()
    await done
  })
  await expect.poll(hub.taken, SOON).toEqual([1, 3, 4, 5])
})

test.each([
  [401, 'x', false],
  [429, 'x', false],
  [500, 'x', false],
  [302, 'x', false],
  [403, '{"error":"gateway_unknown","message":"m"}', false],
  [409, '{"error":"request_replayed","message":"m"}', false],
  [409, '{"error":"something_new","message":"m"}', true],
  [400, '{"error":"invalid_json","message":"m"}', true],
  [404, 'x', true],
])('status %i with %s: about what was sent is %s', (status, body, isOfContent) => {
  let failure: unknown
  try {
    readAnswer({ status, headers: {}, body: Buffer.from(body) }, { safeParse: () => ({ success: false }) } as never)
  } catch (error) {
    failure = error
  }
  expect(mayBeOfContent(failure)).toBe(isOfContent)
})
