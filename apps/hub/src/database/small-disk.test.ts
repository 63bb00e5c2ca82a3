import { randomBytes } from 'node:crypto'
import { chownSync, closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Gateway } from '@hedgerow/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { HubError } from '../kernel/hub-error.ts'
import { createTestDatabaseIn, hasPostgres } from '#testing/databases.ts'
import { createTestDevice } from '#testing/device.ts'
import { smallDisk } from '#testing/disks.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { postgresOwner } from '#testing/postgres.ts'

const MIB = 1024 * 1024
const WAIT = { timeout: 60_000, interval: 100 }
/** The reserve of a real hub, for this disk of 64 MiB. */
const onDisk = (path: string) => ({
  dataDir: path,
  databaseUrl: `sqlite:${join(path, 'hub.sqlite')}`,
  diskReserveBytes: undefined,
})
const FIRST_ADMIN = { username: 'first-admin', password: 'first-admin-password' }

/** Writes until only `leftBytes` are left. */
function fill(disk: string, leftBytes: number): void {
  const file = openSync(join(disk, 'of-another-program'), 'a')
  const block = Buffer.alloc(64 * 1024, 1)
  try {
    for (;;) {
      const { bsize, bavail } = statfsSync(disk)
      if (bsize * bavail <= leftBytes) return
      writeSync(file, block)
    }
  } catch {
    // The disk is full to the last byte.
  } finally {
    closeSync(file)
  }
}

async function statusOfSignIn({ app }: TestHub): Promise<number> {
  return (await app.inject({ method: 'POST', url: '/api/v1/auth/login', payload: FIRST_ADMIN })).statusCode
}

/** A joined gateway, its token and its reports; it and the hub stop with the test. */
async function reportingGateway(hub: TestHub) {
  const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
  const { gatewayId, peer } = await joinedGateway(hub, headers)
  onTestFinished(async () => {
    await peer.stop()
    await hub.stop()
  })
  const startedAt = new Date(hub.clock.now()).toISOString()
  let sent = 0
  const detect = (thumbnail?: string) => {
    const seen = { camera: 'Gate', label: 'fox', severity: 'detection', score: 0.5, startedAt, thumbnail }
    return peer.post('/api/v1/gateway/detections', { detections: [{ id: `d${++sent}`, ...seen }] })
  }
  return { headers, gatewayId, peer, detect }
}

it('a full disk is reported everywhere, and people keep working while gateways wait', async ({ skip }) => {
  const path = smallDisk(skip)
  const told: string[] = []
  const receiver = createServer(async (request, response) => {
    told.push(Buffer.concat(await request.toArray()).toString())
    response.writeHead(204).end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  onTestFinished(() => void receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const hub = await startTestHub('sqlite', {
    ...onDisk(path),
    notifications: { smtp: undefined, webhook: { url, secret: 'sixteen characters' } },
  })
  const { headers, gatewayId, peer, detect } = await reportingGateway(hub)
  const beat = () => peer.post('/api/v1/gateway/heartbeat', testHeartbeat(hub.clock.now()))
  const ready = async () => {
    const answer = await hub.app.inject({ url: '/readyz' })
    return [answer.statusCode, answer.json<{ error?: string; message?: string }>()] as const
  }
  const problems = async () => (await hub.app.inject({ url: '/api/v1/hub/problems', headers })).json<unknown[]>()
  const gateway = async (): Promise<Gateway> =>
    (await hub.app.inject({ url: `/api/v1/hub/gateways/${gatewayId}`, headers })).json()
  const signIn = () => statusOfSignIn(hub)
  const save = async (hubName: string) =>
    (await hub.app.inject({ method: 'PATCH', url: '/api/v1/hub/settings', headers, payload: { hubName } })).statusCode

  expect((await beat()).status).toBe(200)
  expect((await detect()).status).toBe(200)
  expect(await ready()).toEqual([200, { status: 'ok' }])
  expect(await problems()).toEqual([])
  expect(await gateway()).toMatchObject({ status: 'online' })

  fill(path, 5 * MIB)
  const refused = await vi.waitUntil(async () => {
    const answer = await detect()
    return answer.status === 503 && answer
  }, WAIT)
  expect(refused).toMatchObject({ headers: { 'retry-after': '60' }, body: { error: 'storage_low' } })
  const said = expect.stringMatching(/^[\d.]+ MB of 67\.1 MB are free on the hub's disk: make room\.$/)
  expect(await ready()).toEqual([503, { error: 'storage_low', message: said }])
  expect(await problems()).toEqual([{ part: 'storage', message: said }])
  expect((await beat()).status, 'heartbeats still count').toBe(200)
  const device = createTestDevice(hub.app)
  expect(await device.register()).toMatchObject({
    status: 503,
    headers: { 'retry-after': '60' },
    body: { error: 'storage_low' },
  })
  expect(await gateway()).toMatchObject({
    status: 'warning',
    statusReason: expect.stringContaining("in the last hour: the hub's disk is nearly full"),
  })
  // Messages wait for ten seconds, so that they tell of others of the same time.
  hub.clock.advance(11_000)
  await vi.waitFor(() => expect(told).toContainEqual(expect.stringContaining('"event":"storage.low"')), WAIT)

  // Another program fills the rest: the hub frees its reserve for people.
  fill(path, 0)
  await vi.waitFor(async () => expect(await signIn()).toBe(200), WAIT)
  for (let i = 0; i < 20; i++) expect([await signIn(), await save(`Hub ${i}`)]).toEqual([200, 200])
  const payload = { name: 'Barn' }
  const deleted = await hub.app.inject({ method: 'DELETE', url: `/api/v1/hub/gateways/${gatewayId}`, headers, payload })
  expect(deleted.statusCode).toBe(204)

  rmSync(join(path, 'of-another-program'))
  await vi.waitFor(async () => expect(await ready()).toEqual([200, { status: 'ok' }]), WAIT)
  expect(await problems()).toEqual([])
  expect((await device.register()).status).toBe(202)
}, 180_000)

it('a hub starts on a full disk, and people sign in', async ({ skip }) => {
  const path = smallDisk(skip)
  const start = () => startTestHub('sqlite', onDisk(path))
  const first = await start()
  await vi.waitFor(() => expect(existsSync(join(path, 'reserve-for-people'))).toBe(true), WAIT)
  await first.stop()

  fill(path, 0)
  const hub = await start()
  onTestFinished(() => hub.stop())
  await vi.waitFor(async () => expect((await hub.app.inject({ url: '/readyz' })).statusCode).toBe(503), WAIT)
  await vi.waitFor(async () => expect(await statusOfSignIn(hub)).toBe(200), WAIT)
  rmSync(join(path, 'of-another-program'))
  await vi.waitFor(async () => expect((await hub.app.inject({ url: '/readyz' })).statusCode).toBe(200), WAIT)
}, 180_000)

it.skipIf(!hasPostgres)(
  'a PostgreSQL without room is reported everywhere until it accepts rows again',
  async ({ skip }) => {
    const path = smallDisk(skip)
    chownSync(path, postgresOwner.uid ?? 0, postgresOwner.gid ?? 0)
    const { url, remove } = await createTestDatabaseIn(path)
    onTestFinished(remove)
    const hub = await startTestHub('postgres', { databaseUrl: url })
    const gateway = await reportingGateway(hub)
    const { headers } = gateway
    const detect = () => gateway.detect(`/9j/${randomBytes(60_000).toString('base64')}`)
    const read = async (call: string) => {
      const answer = await hub.app.inject({ url: call, headers })
      return [answer.statusCode, answer.json<unknown>()]
    }
    const message = "The hub's database has no room: make some on its disk."

    expect((await detect()).status).toBe(200)
    fill(path, 0)
    let id = 1
    const error = await vi.waitUntil(async () => {
      const filler = randomBytes(60_000).toString('hex')
      const written = hub.db.insertInto('storage_probe').values({ id: ++id, filler }).execute()
      return written.then(() => undefined).catch((refused: unknown) => refused)
    }, WAIT)
    expect(error instanceof HubError ? error.cause : error).toMatchObject({ code: '53100' })
    expect(await detect()).toMatchObject({
      status: 503,
      headers: { 'retry-after': '60' },
      body: { error: 'storage_low' },
    })
    expect(await read('/readyz')).toEqual([503, { error: 'storage_low', message }])
    expect(await read('/api/v1/hub/problems')).toEqual([200, [{ part: 'storage', message }]])

    rmSync(join(path, 'of-another-program'))
    await vi.waitFor(async () => expect(await read('/readyz')).toEqual([200, { status: 'ok' }]), WAIT)
    expect((await detect()).status).toBe(200)
  },
  180_000,
)
