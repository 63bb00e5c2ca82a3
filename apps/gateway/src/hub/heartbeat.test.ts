import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Heartbeat } from '@hedgerow/contract'
import { createConditions } from '../kernel/conditions.ts'
import { createHubFeatures } from './features.ts'
import { keepBeating } from './heartbeat.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'

const HEARTBEAT: Heartbeat = {
  bootId: 'boot-one',
  sequence: 1,
  uptimeSeconds: 60,
  version: '2.0.0',
  clock: 0,
  load: 0,
  memory: 0,
  disk: 0,
  temperature: null,
  cameras: [],
  detectors: [],
  deterrents: [],
  problems: [],
}

const ANSWER = { serverTime: 0, settings: { heartbeatIntervalSeconds: 30 }, features: [] }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Heartbeats that reach the hub in the given ways. */
function startBeating(ways: Pick<Parameters<typeof keepBeating>[0], 'tunnel' | 'httpsFallback'>) {
  const stopping = new AbortController()
  const conditions = createConditions(() => {})
  let rechecks = 0
  const heartbeats = keepBeating({
    ...ways,
    compose: async () => HEARTBEAT,
    features: createHubFeatures(),
    conditions,
    signal: stopping.signal,
    onUnanswered: () => void rechecks++,
    onFeatures() {},
    onTunnelAnswer() {},
    onReviews() {},
  })
  return {
    beatSoon: heartbeats.beatSoon,
    rechecks: () => rechecks,
    condition: () => conditions.conditions().find(({ step }) => step === 'heartbeat'),
    async stop() {
      stopping.abort()
      await heartbeats.done
    },
  }
}

test('changes in quick succession share one heartbeat, a moment later', async () => {
  let sent = 0
  const beating = startBeating({
    tunnel: () => undefined,
    httpsFallback: {
      isOpen: () => true,
      isTaken: () => true,
      isPrivate: () => true,
      tunnelAnswers() {},
      async post() {
        sent += 1
        return ANSWER as never
      },
    },
  })
  await vi.advanceTimersByTimeAsync(300_000)
  const before = sent
  for (let change = 0; change < 3; change += 1) beating.beatSoon()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(sent).toBe(before + 1)
  await beating.stop()
})

describe('a hub that does not answer at once', () => {
  /** Heartbeats through a tunnel whose hub takes connections and answers when told to. */
  function startWithTunnel({ isHeard }: { isHeard: boolean }) {
    const connections: Duplex[] = []
    let heartbeats = 0
    let retries = 0
    const tunnel: Tunnel = {
      address: '10.100.0.2',
      hubAddress: '10.100.0.1',
      isUp: () => true,
      connect() {
        const connection = new Duplex({
          read() {},
          write(chunk: Buffer, _encoding, done) {
            if (chunk.toString().startsWith('POST ')) heartbeats++
            done()
          },
        })
        connections.push(connection)
        return Object.assign(connection, { setKeepAlive() {}, setTimeout() {}, ref() {}, unref() {} }) as never
      },
      listen() {},
      hasHeardSince: () => isHeard,
      retry: () => void retries++,
      async stop() {},
    }
    const beating = startBeating({
      tunnel: () => tunnel,
      httpsFallback: {
        isOpen: () => false,
        isTaken: () => false,
        isPrivate: () => false,
        tunnelAnswers() {},
        post: async () => expect.unreachable(),
      },
    })
    return {
      ...beating,
      connections,
      heartbeats: () => heartbeats,
      retries: () => retries,
      answer(body = JSON.stringify(ANSWER), status = '200 OK') {
        connections.at(-1)!.push(`HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      },
    }
  }

  /** Node's HTTP needs turns of the event loop, which stay real here. */
  async function untilTrue(check: () => boolean) {
    for (let turn = 0; turn < 1_000 && !check(); turn++) await nextTurn()
    expect(check()).toBe(true)
  }

  beforeEach(() => void vi.useRealTimers().useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))

  test('keeps its session and the heartbeat while it sends anything', async () => {
    const beating = startWithTunnel({ isHeard: true })
    await untilTrue(() => beating.connections.length === 1)
    await vi.advanceTimersByTimeAsync(9_000)
    beating.answer()
    await untilTrue(() => beating.condition()?.state === 'done')
    expect([beating.retries(), beating.connections.length]).toEqual([0, 1])
    await beating.stop()
  })

  test('gets the next heartbeat over the same connection, and over a new one once it had ended that', async () => {
    const beating = startWithTunnel({ isHeard: true })
    for (let heartbeats = 1; heartbeats <= 3; heartbeats++) {
      await untilTrue(() => beating.heartbeats() === heartbeats)
      beating.answer()
      await untilTrue(() => beating.condition()?.state === 'done')
      for (let turn = 0; turn < 100; turn++) await nextTurn()
      if (heartbeats < 3) await vi.advanceTimersByTimeAsync(30_000)
    }
    expect(beating.connections.length).toBe(1)
    const [first] = beating.connections
    first!._write = () => void first!.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
    await vi.advanceTimersByTimeAsync(30_000)
    await untilTrue(() => beating.heartbeats() === 4)
    expect([beating.connections.length, beating.condition()?.state]).toEqual([2, 'done'])
    await beating.stop()
  })

  test('gets a new handshake after two seconds in which it sent nothing', async () => {
    const beating = startWithTunnel({ isHeard: false })
    await untilTrue(() => beating.connections.length === 1)
    await vi.advanceTimersByTimeAsync(1_900)
    await nextTurn()
    expect(beating.retries()).toBe(0)
    await vi.advanceTimersByTimeAsync(100)
    await untilTrue(() => beating.retries() === 1)
    expect(beating.condition()).toMatchObject({ state: 'failed', detail: expect.stringContaining('within 2 s') })
    await beating.stop()
  })

  test('gets a new handshake after the third failure in a row, whatever it sent', async () => {
    const beating = startWithTunnel({ isHeard: true })
    const retriesAfter: number[] = []
    for (let failures = 1; failures <= 3; failures++) {
      await untilTrue(() => beating.connections.length === failures)
      beating.connections.at(-1)!.destroy(new Error('cut off'))
      for (let turn = 0; turn < 100; turn++) await nextTurn()
      retriesAfter.push(beating.retries())
      await vi.advanceTimersByTimeAsync(5_000)
    }
    expect(retriesAfter).toEqual([0, 0, 1])
    await beating.stop()
  })

  test.each([
    ['is asked for its approval when nothing came through the tunnel', { isHeard: false, refusal: undefined, asks: 1 }],
    [
      'is not asked when something came: it has the tunnel of an approved device',
      { isHeard: true, refusal: undefined, asks: 0 },
    ],
    ['is asked when it refused the heartbeats', { isHeard: true, refusal: 'gateway_unknown', asks: 1 }],
  ])('%s, at the third failure', async (_name, { isHeard, refusal, asks }) => {
    const beating = startWithTunnel({ isHeard })
    const rechecksAfter: number[] = []
    for (let failures = 1; failures <= 3; failures++) {
      await untilTrue(() => beating.heartbeats() === failures)
      if (refusal === undefined) beating.connections.at(-1)!.destroy(new Error('cut off'))
      else beating.answer(JSON.stringify({ error: refusal, message: 'Unknown' }), '403 Forbidden')
      for (let turn = 0; turn < 100; turn++) await nextTurn()
      rechecksAfter.push(beating.rechecks())
      await vi.advanceTimersByTimeAsync(5_000)
    }
    expect(rechecksAfter).toEqual([0, 0, asks])
    await beating.stop()
  })
})
