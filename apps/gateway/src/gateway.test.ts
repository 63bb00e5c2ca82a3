import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { generateIdentitySeed } from '@hedgerow/enrolment'
import type { Detection } from '@hedgerow/contract'
import { startGateway, type Gateway, type GatewayOptions } from './gateway.ts'
import { GATEWAY_ID, startFixtureHub, type FixtureHub } from '../testing/hub.ts'
import type { Step } from './kernel/conditions.ts'
import { presetPassword } from '../testing/preset-password.ts'

const WAIT = { timeout: 30_000, interval: 20 }

let dataDir: string
let hub: FixtureHub
const running = new Set<Gateway>()

async function start(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = await startGateway({
    name: 'Orchard gate',
    location: 'North field',
    dataDir,
    host: '127.0.0.1',
    port: 0,
    hubUrl: hub.url,
    log: pino({ level: 'silent' }),
    pace: { retryFirstMs: 50, retryMaxMs: 200, rejectedRecheckMs: 100, approvedRecheckMs: 200 },
    ...options,
  })
  running.add(gateway)
  return gateway
}

async function stop(gateway: Gateway): Promise<void> {
  running.delete(gateway)
  await gateway.stop()
}

function condition(gateway: Gateway, step: Step) {
  return gateway.state().conditions.find((each) => each.step === step)!
}

const until = (check: () => void) => vi.waitFor(check, WAIT)
const untilDone = (gateway: Gateway, step: Step) =>
  until(() => expect(condition(gateway, step)).toMatchObject({ state: 'done' }))

function detectionOf(id: string): Detection {
  return { id, camera: 'yard', label: 'deer', severity: 'alert', score: 0.9, startedAt: '2026-05-01T10:00:00.000Z' }
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-gateway-'))
  presetPassword(dataDir)
  hub = await startFixtureHub()
})

afterEach(async () => {
  await Promise.all([...running].map(stop))
  await hub.stop()
  await rm(dataDir, { recursive: true, force: true })
})

describe('enrolment', () => {
  test('a new device registers with its proof and its sealed token, and waits for approval', async () => {
    const gateway = await start({ invitationCode: 'SPRING' })
    await until(() => expect(condition(gateway, 'approved').detail).toMatch(/has to approve/))
    expect(hub.registrations).toEqual([
      expect.objectContaining({
        deviceName: 'Orchard gate',
        secret: { deviceToken: gateway.state().deviceToken, invitationCode: 'SPRING' },
      }),
    ])
    expect(gateway.state()).toMatchObject({ hubFingerprint: hub.fingerprint, gatewayId: null })
    expect(condition(gateway, 'tunnelUp').state).toBe('waiting')
  })

  test('an approval reaches the waiting device at once: tunnel, heartbeat, its interface in the tunnel', async () => {
    const gateway = await start()
    await until(() => expect(hub.statusRequests).toBe(2))
    gateway.setDeviceReport({ cameras: [{ name: 'yard', state: 'online', fps: 5 }] })
    hub.decide({ status: 'approved' })
    await untilDone(gateway, 'heartbeat')
    expect(gateway.state().conditions.map(({ state }) => state)).toEqual(Array(5).fill('done'))
    expect(hub.heartbeats[0]).toMatchObject({ sequence: 0, cameras: [{ name: 'yard' }] })
    const health = await new Promise<string>((resolve, reject) => {
      get('http://gateway/api/health', { createConnection: () => hub.dial(8080) }, (answer) =>
        text(answer).then(resolve, reject),
      ).on('error', reject)
    })
    expect(JSON.parse(health)).toMatchObject({ status: 'ok', gatewayId: GATEWAY_ID })
  })

  test('a rejected device shows why, asks again slowly, and joins when a manager lifts the rejection', async () => {
    hub.decide({ status: 'rejected', reason: 'Unknown serial number' })
    const gateway = await start()
    await until(() =>
      expect(condition(gateway, 'approved')).toMatchObject({
        state: 'failed',
        detail: 'Rejected: Unknown serial number',
      }),
    )
    expect(hub.statusRequests).toBe(1)
    hub.decide({ status: 'approved' })
    await untilDone(gateway, 'heartbeat')
  })

  test('an approved device goes straight to its tunnel after a restart, also while HTTP has no answer', async () => {
    const first = await start()
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await untilDone(first, 'heartbeat')
    const { deviceToken, fingerprint } = first.state()
    await stop(first)
    const second = await start({ hubUrl: new URL('http://127.0.0.1:9') })
    await untilDone(second, 'heartbeat')
    expect(second.state()).toMatchObject({ deviceToken, fingerprint, gatewayId: GATEWAY_ID })
    expect(condition(second, 'hubFound')).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('connection refused'),
    })
  })

  test('a device whose clock is a year behind after a restart comes up before the hub tells it the time', async () => {
    const first = await start()
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await untilDone(first, 'heartbeat')
    await stop(first)
    const second = await start({
      hubUrl: new URL('http://127.0.0.1:9'),
      wallClock: () => Date.now() - 365 * 86_400_000,
    })
    await untilDone(second, 'tunnelUp')
    await untilDone(second, 'heartbeat')
    const sentence = 'http://127.0.0.1:9: nothing listens there (connection refused)'
    expect(condition(second, 'hubFound')).toMatchObject({ state: 'failed', detail: sentence })
  })

  test('a device that the hub has deleted closes its tunnel and registers again', async () => {
    const gateway = await start()
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await untilDone(gateway, 'tunnelUp')
    hub.decide({ status: 'gone' })
    await until(() => expect(hub.registrations.length).toBe(2))
    await until(() => expect(gateway.state().gatewayId).toBeNull())
    await until(() => expect(condition(gateway, 'tunnelUp').state).toBe('waiting'))
  })

  test('a hub that is slow to answer keeps its session; when it stays silent, the device registers again', async () => {
    const pace = { retryFirstMs: 50, retryMaxMs: 100, approvedRecheckMs: 50, answerMs: 300 }
    const gateway = await start({ pace })
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await untilDone(gateway, 'tunnelUp')
    hub.holdStatuses(2)
    const before = hub.statusRequests
    await until(() => expect(hub.statusRequests).toBeGreaterThan(before + 4))
    expect(hub.registrations.length).toBe(1)
    hub.holdStatuses(3)
    await until(() => expect(hub.registrations.length).toBe(2))
    await until(() => expect(condition(gateway, 'hubFound').state).toBe('done'))
    expect(condition(gateway, 'tunnelUp').state).toBe('done')
  })

  test('an endpoint where no hub answers is skipped', { timeout: 120_000 }, async () => {
    await hub.stop()
    hub = await startFixtureHub({ endpointsBefore: ['127.0.0.1:9'] })
    const gateway = await start()
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await vi.waitFor(() => expect(condition(gateway, 'heartbeat').state).toBe('done'), { timeout: 90_000 })
  })

  test('a hub without time for heartbeats gets none until the pause is over that it asks for', async () => {
    hub.beBusy(3)
    const gateway = await start()
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await untilDone(gateway, 'heartbeat')
    const pauses = hub.busyAt.slice(1).map((at, index) => at - hub.busyAt[index]!)
    expect(pauses.length).toBe(2)
    for (const pause of pauses) expect(pause).toBeGreaterThan(990)
    // It is not taken for an older hub, which would get no details.
    expect(hub.heartbeats.length).toBeGreaterThan(0)
    expect(condition(gateway, 'tunnelUp').state).toBe('done')
  })

  test('an answer without the hub’s signature is ignored', async () => {
    const gateway = await start()
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await untilDone(gateway, 'tunnelUp')
    hub.forgeAnswers()
    hub.decide({ status: 'rejected', reason: 'forged' })
    await until(() => expect(condition(gateway, 'hubFound').detail).toMatch(/signature/))
    expect(gateway.state().gatewayId).toBe(GATEWAY_ID)
    expect(condition(gateway, 'tunnelUp').state).toBe('done')
  })
})

describe('trust in the hub', () => {
  test('a hub whose key changed is refused with both fingerprints in the message', async () => {
    const first = await start()
    await untilDone(first, 'registered')
    await stop(first)
    const trusted = hub.fingerprint
    await hub.stop()
    hub = await startFixtureHub({ identitySeed: generateIdentitySeed() })
    const second = await start()
    await until(() => expect(condition(second, 'hubFound').state).toBe('failed'))
    expect(condition(second, 'hubFound').detail).toContain(trusted)
    expect(condition(second, 'hubFound').detail).toContain(hub.fingerprint)
    expect(hub.registrations).toEqual([])
  })

  test('the operator’s fingerprint admits the new hub and no other', async () => {
    const first = await start()
    await untilDone(first, 'registered')
    await stop(first)
    await hub.stop()
    hub = await startFixtureHub()
    const second = await start({ hubFingerprint: hub.fingerprint })
    await untilDone(second, 'registered')
    await stop(second)
    await hub.stop()
    const pinned = hub.fingerprint
    hub = await startFixtureHub()
    const third = await start({ hubFingerprint: pinned })
    await until(() => expect(condition(third, 'hubFound').detail).toContain(`expected ${pinned}`))
    expect(hub.registrations).toEqual([])
  })
})

describe('detections', () => {
  test('detections made while the hub was down arrive later, in order, across a restart', async () => {
    const first = await start({ hubUrl: new URL('http://127.0.0.1:9') })
    await first.reportDetections([detectionOf('a'), detectionOf('b')])
    await stop(first)
    const second = await start()
    await second.reportDetections([detectionOf('c')])
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await until(() => expect(hub.detections.map(({ id }) => id)).toEqual(['a', 'b', 'c']))
    await until(() => expect(second.state().detectionsWaiting).toBe(0))
  })

  test('detections that the hub refuses as invalid do not hold up later ones', async () => {
    const gateway = await start()
    await until(() => expect(hub.registrations.length).toBe(1))
    hub.decide({ status: 'approved' })
    await untilDone(gateway, 'heartbeat')
    hub.refuseDetections('invalid_request')
    await gateway.reportDetections([detectionOf('bad')])
    await until(() => expect(gateway.state().detectionsWaiting).toBe(0))
    hub.refuseDetections('storage_unavailable')
    await gateway.reportDetections([detectionOf('good')])
    hub.refuseDetections(undefined)
    await until(() => expect(hub.detections.map(({ id }) => id)).toEqual(['good']))
  })

  test.each(['invalid_request', 'payload_too_large', 'json_too_complex'] as const)(
    'when the hub refuses detections with %s, only the faulty one is lost, and counted',
    async (code) => {
      const gateway = await start()
      const ids = Array.from({ length: 21 }, (_, i) => (i === 7 ? 'bad' : `good-${i}`))
      await gateway.reportDetections(ids.map(detectionOf))
      await until(() => expect(hub.registrations.length).toBe(1))
      hub.refuseDetections(code, 'bad')
      hub.decide({ status: 'approved' })
      await until(() => expect(gateway.state().detectionsWaiting).toBe(0))
      expect(hub.detections.map(({ id }) => id)).toEqual(ids.filter((id) => id !== 'bad'))
      expect(gateway.state().detectionsDropped).toBe(1)
      const said = '1 detection was lost since the gateway started: the hub did not accept them in time, or not at all'
      await until(() => expect(hub.heartbeats.at(-1)?.problems).toEqual([said]))
    },
  )

  test('an invalid detection is refused and not queued', async () => {
    const gateway = await start()
    await expect(gateway.reportDetections([{ ...detectionOf('x'), score: 2 }])).rejects.toThrow(/score/)
    expect(gateway.state().detectionsWaiting).toBe(0)
  })
})

describe('the data directory', () => {
  test('a second agent on it is refused, and the first keeps running', async () => {
    const gateway = await start()
    await expect(start()).rejects.toThrow(/Another gateway is running/)
    await untilDone(gateway, 'registered')
  })

  test('lost keys beside an enrolment stop the start; no new keys are made', async () => {
    const gateway = await start()
    await untilDone(gateway, 'registered')
    await stop(gateway)
    await rm(join(dataDir, 'keys.json'))
    await expect(start()).rejects.toThrow(/keys\.json is missing/)
  })

  test('a damaged approval stops the start, and the error names the file', async () => {
    await stop(await start())
    await writeFile(join(dataDir, 'approval.json'), '{"gatewayId":')
    await expect(start()).rejects.toThrow(/approval\.json is damaged/)
  })
})

test('a gateway stops without waiting for a request that the hub holds open', { timeout: 5_000 }, async () => {
  const gateway = await start()
  await until(() => expect(hub.statusRequests).toBe(2))
  await stop(gateway)
  await expect(fetch(`http://127.0.0.1:${gateway.port}/api/health`)).rejects.toThrow(/fetch failed/)
})
