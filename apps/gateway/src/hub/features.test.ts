import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection, Heartbeat } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startFixtureHub, type FixtureHub } from '../../testing/hub.ts'
import { presetPassword } from '../../testing/preset-password.ts'
import { startGateway, type Gateway } from '../gateway.ts'
import { createHubFeatures } from './features.ts'

const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 20 })

const plain: Detection = {
  id: 'd1',
  camera: 'orchard',
  label: 'boar',
  severity: 'alert',
  score: 0.9,
  startedAt: '2026-05-01T22:00:00.000Z',
}
const detailed: Detection = {
  ...plain,
  source: 'api',
  zone: 'rows',
  box: { x: 0.1, y: 0.2, width: 0.3, height: 0.4 },
  verdicts: [{ stage: 'detector', by: 'yolox-tiny', outcome: 'unsure', score: 0.9, ms: 48 }],
  firings: [{ id: 'f1', deterrent: 'sprinkler', at: plain.startedAt, seconds: 10, outcome: 'fired' }],
}
const sprinkler = { name: 'sprinkler', state: 'ready' as const }

describe('features of a hub', () => {
  let dataDir: string
  let hub: FixtureHub
  let gateway: Gateway

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-features-'))
    presetPassword(dataDir)
    hub = await startFixtureHub()
  })
  afterEach(async () => {
    await gateway.stop()
    await hub.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  async function start(): Promise<void> {
    const options = { name: 'Orchard', dataDir, host: '127.0.0.1', port: 0, hubUrl: hub.url }
    gateway = await startGateway({ ...options, log: pino({ level: 'silent' }) })
    gateway.setDeviceReport({
      cameras: [
        { name: 'gate', state: 'frozen', fps: 5 },
        { name: 'yard', state: 'turned', fps: 5 },
      ],
      deterrents: [{ ...sprinkler, driver: 'http', secondsLeftThisHour: 110 }],
    })
    await until(() => expect(hub.registrations).toHaveLength(1))
    hub.decide({ status: 'approved' })
  }
  const refused = () => hub.received.length - hub.heartbeats.length - (hub.detections.length > 0 ? 1 : 0)

  test('are used with a hub that names them, and not before it does', async () => {
    await start()
    await gateway.reportDetections([detailed])
    await until(() => expect(hub.detections).toEqual([detailed]))
    await until(() => expect(hub.heartbeats.length).toBeGreaterThan(1))
    const [first, second] = hub.heartbeats
    expect(first).not.toHaveProperty('queue')
    expect(first).not.toHaveProperty('cameraProblems')
    expect(first?.cameras).toMatchObject([{ state: 'offline' }, { state: 'online' }])
    expect(first).not.toHaveProperty('restarts')
    expect(first?.deterrents).toEqual([sprinkler])
    expect(second).toMatchObject({
      cameras: [{ state: 'frozen' }, { state: 'turned' }],
      cameraProblems: [],
      queue: { lost: 0 },
      restarts: { sinceBoot: 0, lastHour: 0, lastDay: 0, reason: '' },
      deterrents: [{ driver: 'http', secondsLeftThisHour: 110 }],
    })
    await until(() => expect(hub.registrations).toHaveLength(1))
    hub.decide({ status: 'approved' })
  })

  test('a hub of the first version gets heartbeats and detections without later fields, and refuses none', async () => {
    hub.becomeVersion('first')
    await start()
    await gateway.reportDetections([detailed])
    await until(() => expect(hub.detections).toEqual([plain]))
    await until(() => expect(hub.heartbeats.length).toBeGreaterThan(2))
    expect(refused()).toBe(0)
    expect(hub.heartbeats.at(-1)).toMatchObject({
      cameras: [{ state: 'offline' }, { state: 'online' }],
      deterrents: [sprinkler],
    })
    expect(gateway.state()).toMatchObject({ detectionsWaiting: 0, detectionsDropped: 0 })
  })

  test('a hub is replaced by an older one in the middle of a session: nothing is lost', async () => {
    await start()
    await until(() => expect(hub.heartbeats.length).toBeGreaterThan(1))
    hub.becomeVersion('first')
    await gateway.reportDetections([detailed])
    await until(() => expect(hub.detections).toEqual([plain]))
    const before = hub.heartbeats.length
    await until(() => expect(hub.heartbeats.length).toBeGreaterThan(before))
    expect(gateway.state()).toMatchObject({ detectionsWaiting: 0, detectionsDropped: 0 })
  })
})

test('an older hub is told that a snoozed gateway is disarmed, and nothing of single cameras or marks', () => {
  const features = createHubFeatures()
  const heartbeat = {
    armed: false,
    cameras: [],
    deterrents: [],
    snoozes: [
      { kind: 'snooze', camera: 'gate', by: 'rosa', at: 1, until: 2 },
      { kind: 'maintenance', camera: null, by: 'sam', at: 3, until: 4 },
    ],
  } as unknown as Heartbeat
  const seen: Detection = { ...plain, snoozed: true }
  features.learn(['heartbeat-details', 'protection'])
  expect(features.heartbeatFor(heartbeat)).toEqual({
    armed: false,
    cameras: [],
    deterrents: [],
    disarmed: { by: 'sam', at: 3, until: 4 },
  })
  expect([features.detectionsFor([seen]), features.withoutDetails([seen])]).toEqual([[plain], [plain]])
  features.learn(['heartbeat-details', 'protection', 'snooze'])
  expect(features.heartbeatFor(heartbeat)).toEqual(heartbeat)
  expect(features.detectionsFor([seen])).toEqual([seen])
})
