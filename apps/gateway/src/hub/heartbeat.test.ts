import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Heartbeat } from '@hedgerow/contract'
import { createConditions } from '../kernel/conditions.ts'
import { createHubFeatures } from './features.ts'
import { keepBeating } from './heartbeat.ts'

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

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('changes in quick succession share one heartbeat, a moment later', async () => {
  const stopping = new AbortController()
  let sent = 0
  const answer = { serverTime: 0, settings: { heartbeatIntervalSeconds: 30 }, features: [] }
  const heartbeats = keepBeating({
    tunnel: () => undefined,
    httpsFallback: {
      isOpen: () => true,
      isTaken: () => true,
      isPrivate: () => true,
      tunnelAnswers() {},
      async post() {
        sent += 1
        return answer as never
      },
    },
    compose: async () => HEARTBEAT,
    features: createHubFeatures(),
    conditions: createConditions(() => {}),
    signal: stopping.signal,
    onUnanswered() {},
    onFeatures() {},
    onTunnelAnswer() {},
    onReviews() {},
  })
  await vi.advanceTimersByTimeAsync(300_000)
  const before = sent
  for (let change = 0; change < 3; change += 1) heartbeats.beatSoon()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(sent).toBe(before + 1)
  stopping.abort()
  await heartbeats.done
})
