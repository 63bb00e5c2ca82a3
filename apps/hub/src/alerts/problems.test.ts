import { listAlerts, type Alert, type Heartbeat } from '@hedgerow/contract'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { HUB, record } from '../facts/facts.ts'
import type { FleetStatus } from '../fleet/fleet.ts'
import { createProblems } from './problems.ts'

const MINUTE_MS = 60_000

describe.each(testEngines)('outages on %s', (engine) => {
  let hub: TestHub
  let server: ReturnType<typeof createServer>
  let received: { event: string; title: string; text: string }[]
  let fleet: FleetStatus[]
  let cameras: Record<string, Heartbeat['cameras']>
  beforeEach(async () => {
    received = []
    server = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(JSON.parse(body) as (typeof received)[number])
        response.writeHead(204).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    hub = await startTestHub(engine, { notifications: { webhook: { url, secret: 'a secret for webhooks' } } })
    hub.clock.freeze()
    fleet = []
    cameras = {}
  })
  afterEach(async () => {
    await hub.stop()
    server.close()
  })

  const add = async (name: string) => {
    const id = await insertTestGateway(hub.db, { name })
    const gateway: FleetStatus = {
      id,
      name,
      ownerId: null,
      publicKey: '',
      queue: undefined,
      isOnlyCameras: false,
      status: 'online',
      reason: 'no heartbeat for 9 min',
      lastSeenAt: hub.clock.now(),
    }
    fleet.push(gateway)
    return gateway
  }
  /** Creates it as a start of the hub does. */
  const start = () =>
    createProblems({
      db: hub.db,
      clock: hub.clock.now,
      log: pino({ level: 'silent' }),
      notifications: hub.notifications,
      statuses: () => fleet,
      camerasOf: (id) => cameras[id] ?? [],
    })
  const titles = () => received.map(({ title }) => title)

  it('are told after the hold-off in one message, and once when all are over, also after restarts', async () => {
    const [barn, mill] = [await add('Barn'), await add('Mill')]
    let problems = start()
    const pass = async (minutes: number) => {
      hub.clock.advance(minutes * MINUTE_MS)
      await problems.look()
      hub.clock.advance(11_000)
      await hub.alertSteps.look()
      await hub.notifications.deliver()
    }
    await pass(0)
    barn.status = 'offline'
    await pass(0)
    await pass(3)
    barn.status = 'online'
    await pass(5)
    expect(titles(), 'a reboot is no news, nor its end').toEqual([])

    barn.status = 'offline'
    mill.status = 'offline'
    await pass(0)
    problems = start()
    mill.reason = 'no heartbeat for 14 min'
    await pass(5)
    expect(received, 'with the reason of now').toMatchObject([
      {
        event: 'gateway.quiet',
        title: expect.stringMatching(/^2 gateways are offline, the first: Gateway "(Barn|Mill)" is offline$/),
        text: expect.stringContaining('Gateway "Mill" is offline: no heartbeat for 14 min'),
      },
    ])
    await pass(100)
    barn.status = 'online'
    await pass(0)
    expect(received).toHaveLength(1)
    // It comes back while the hub is off.
    mill.status = 'online'
    problems = start()
    await pass(0)
    expect(received[1]).toMatchObject({ event: 'gateway.back', title: expect.stringMatching(/^Over: 2 gateways/) })
    const token = await hub.signIn('admin')
    const [alert] = (await createTestApi(hub)(listAlerts, { token, query: {} })).body as Alert[]
    expect(alert).toMatchObject({ kind: 'gateway-quiet', clearedAt: expect.any(String) })
    await pass(100)
    expect(received).toHaveLength(2)
  })

  it('end without a message when the gateway is deleted, or its camera taken out', async () => {
    const [barn, mill] = [await add('Barn'), await add('Mill')]
    const problems = start()
    const pass = async (minutes: number) => {
      hub.clock.advance(minutes * MINUTE_MS)
      await problems.look()
      hub.clock.advance(11_000)
      await hub.notifications.deliver()
    }
    const remove = async ({ id }: FleetStatus) => {
      await hub.db.deleteFrom('gateways').where('id', '=', id).execute()
      fleet = fleet.filter((gateway) => gateway.id !== id)
    }
    cameras[mill.id] = [{ name: 'gate', fps: 0, state: 'offline' }]
    await pass(0)
    barn.status = 'offline'
    await pass(0)
    await pass(5)
    expect(titles().toSorted()).toEqual(['Camera "gate" of "Mill" gives no picture', 'Gateway "Barn" is offline'])
    cameras[mill.id] = []
    await remove(barn)
    await pass(1)
    const token = await hub.signIn('admin')
    const alerts = (await createTestApi(hub)(listAlerts, { token, query: {} })).body as Alert[]
    expect(alerts.map(({ clearedAt }) => clearedAt)).toEqual([expect.any(String), expect.any(String)])

    const oak = await add('Oak')
    await pass(0)
    Object.assign(mill, { status: 'offline' })
    Object.assign(oak, { status: 'offline' })
    await pass(0)
    await pass(5)
    mill.status = 'online'
    await remove(oak)
    await pass(1)
    expect(titles().slice(2), 'one of two came back').toEqual([
      expect.stringMatching(/^2 gateways are offline/),
      expect.stringMatching(/^Over: 2 gateways/),
    ])
  })

  it('of cameras, warnings, deterrents, the disk and certificates are told; one warning a day, nothing twice', async () => {
    const barn = await add('Barn')
    const problems = start()
    const pass = async (minutes: number) => {
      await problems.look()
      hub.clock.advance(minutes * MINUTE_MS)
      await problems.look()
      hub.clock.advance(11_000)
      await hub.notifications.deliver()
    }
    const gate = { name: 'gate', fps: 0 }
    cameras[barn.id] = [{ ...gate, state: 'offline' }]
    Object.assign(barn, { status: 'warning', isOnlyCameras: true })
    await pass(5)
    expect(titles()).toEqual(['Camera "gate" of "Barn" gives no picture'])
    // The camera's state is unknown while the gateway is offline.
    barn.status = 'offline'
    cameras[barn.id] = [{ ...gate, state: 'online' }]
    await pass(1)
    barn.status = 'online'
    await pass(1)
    expect(titles().slice(1)).toEqual(['Over: Camera "gate" of "Barn" gives no picture'])

    for (const _day of ['first', 'second time on one day']) {
      Object.assign(barn, { status: 'warning', isOnlyCameras: false, reason: 'disk 95 % full' })
      await pass(5)
      barn.status = 'online'
      await pass(0)
    }
    expect(titles().slice(2)).toEqual(['Gateway "Barn" has a warning'])

    const about = { at: hub.clock.now(), actor: HUB, gatewayId: barn.id }
    const failed = { gatewayName: 'Barn', by: 'rule', deterrent: 'siren', detectionId: null, message: 'no answer' }
    const certificate = { id: 'configured-tls' as const, name: 'TLS', expiresAt: '2026-12-01T00:00:00.000Z' }
    for (const _twice of [1, 2]) {
      await record(hub.db, { ...about, kind: 'deterrent.failed', data: failed })
      await record(hub.db, { ...about, kind: 'storage.low', data: { state: 'low', message: 'It is low.' } })
      await record(hub.db, { ...about, kind: 'certificate.expiring', data: certificate })
    }
    await pass(1)
    expect(
      received
        .slice(3)
        .map(({ event, title }) => `${event} ${title}`)
        .toSorted(),
    ).toEqual([
      'certificate.expiring TLS expires soon',
      'deterrent.failed Deterrent "siren" of "Barn" failed',
      "storage.low Your hub's disk is nearly full",
    ])
  })
})
