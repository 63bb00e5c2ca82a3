import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'

const CALLS_MAX = 2_000
const REFUSED = { status: 503, error: 'storage_unavailable' }

it('a hub whose disk is full refuses writes with 503, keeps the rest running, and recovers by itself', async () => {
  const hub = await startTestHub('sqlite')
  const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
  const call = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const answer = await hub.app.inject({ method, url: `/api/v1${url}`, headers, ...(payload && { payload }) })
    return { status: answer.statusCode, error: (JSON.parse(answer.body) as { error?: string }).error }
  }
  const write = () => call('POST', '/admin/gateway-invitations', { label: 'x'.repeat(100) })
  const signIn = () => call('POST', '/auth/login', { username: 'first-admin', password: 'first-admin-password' })
  const { gatewayId, peer } = await joinedGateway(hub, headers)
  const detect = (id: string) =>
    peer.post('/api/v1/gateway/detections', {
      detections: Array.from({ length: 500 }, (_, i) => ({
        id: `${id}/${i}`,
        camera: 'orchard',
        label: 'deer',
        severity: 'detection',
        score: 0.5,
        startedAt: new Date(hub.clock.now()).toISOString(),
      })),
    })
  const beat = () => peer.post('/api/v1/gateway/heartbeat', testHeartbeat(hub.clock.now()))
  const { page_count: pages } = (await sql<{ page_count: number }>`pragma page_count`.execute(hub.db)).rows[0]!

  await sql`pragma max_page_count = ${sql.lit(pages)}`.execute(hub.db)
  let answer = await write()
  for (let i = 0; i < CALLS_MAX && answer.status === 200; i++) answer = await write()
  expect(answer).toEqual(REFUSED)
  expect((await call('GET', '/auth/validate')).status, 'signed-in people stay signed in').toBe(200)
  expect((await call('GET', '/hub/gateways')).status).toBe(200)
  expect((await beat()).status, 'packets still pass through the tunnel').toBe(200)
  expect(await detect('full')).toMatchObject({ status: 503, body: { error: 'storage_low' } })
  // A session may still fit into a page with room; otherwise it is refused clearly.
  let signedIn = await signIn()
  for (let i = 0; i < CALLS_MAX && signedIn.status === 200; i++) {
    await write()
    signedIn = await signIn()
  }
  expect(signedIn).toEqual(REFUSED)

  await sql`pragma max_page_count = ${sql.lit(pages * 100)}`.execute(hub.db)
  expect((await write()).status).toBe(200)
  expect((await signIn()).status).toBe(200)
  await vi.waitFor(async () => expect((await detect('again')).status).toBe(200), { timeout: 60_000 })
  const kept = () =>
    hub.db.selectFrom('gateways').select('heartbeat').where('id', '=', gatewayId).executeTakeFirstOrThrow()
  await vi.waitFor(async () => expect((await kept()).heartbeat, 'told meanwhile').not.toBeNull(), { timeout: 60_000 })
  await peer.stop()
  await hub.stop()
}, 180_000)
