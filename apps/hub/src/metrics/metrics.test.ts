import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

const token = 'a-token-for-prometheus'
/** promtool is in Debian's package prometheus. */
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined

describe.each(testEngines)('metrics on %s', (engine) => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub(engine, {
      metrics: { port: undefined, host: '127.0.0.1', token, gateways: true },
      backups: { dir: '/nowhere', times: { hours: 24 }, keep: 1 },
    })
  })
  afterAll(() => hub.stop())
  const scrape = async (authorization = `Bearer ${token}`) =>
    hub.app.inject({ url: '/metrics', headers: { authorization } })

  test('show requests by route, the fleet by status, the tunnel, the database and the process', async () => {
    await insertTestGateway(hub.db, { name: 'Barn' })
    await hub.app.inject({ url: '/api/v1/auth/validate' })
    await hub.app.inject({ url: '/api/v1/hub/gateways/aaaaaaaaaaaa/DT-0123456789AB' })
    hub.metrics.countDrop('wireguard', 'unknown-peer')
    const { body, headers } = await scrape()
    expect(headers['content-type']).toContain('text/plain')
    expect(body).toMatch(
      /^hedgerow_http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/auth\/validate",status="401"\} 1$/m,
    )
    expect(body).toMatch(/^hedgerow_gateways\{status="offline"\} 1$/m)
    expect(body).toMatch(/^hedgerow_tunnel_bytes\{direction="sent"\} \d+$/m)
    expect(body).toMatch(/^hedgerow_tunnel_drops_total\{layer="wireguard",reason="unknown-peer"\} 1$/m)
    expect(body).toMatch(/^hedgerow_database_bytes [1-9]\d+$/m)
    expect(body).toMatch(/^hedgerow_registrations_pending 0$/m)
    expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds \S+$/m)
    expect(body).not.toContain('DT-0123456789AB')
    expect(body).not.toContain('Barn')
  })

  test('show each gateway by its id, certificates and notifications', async () => {
    const lastHandshake = hub.clock.now() - 1_000
    const id = await insertTestGateway(hub.db, { kind: 'wireguard', last_handshake_at: lastHandshake })
    const {
      wireguard_public_key: publicKey,
      preshared_key: presharedKey,
      address,
    } = await hub.db
      .selectFrom('gateways')
      .select(['wireguard_public_key', 'preshared_key', 'address'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    hub.vpn.addPeer({ publicKey, presharedKey, address })
    hub.metrics.countDetections(id, 'stored', 3)
    hub.metrics.countDetections(id, 'refused', 2)
    hub.metrics.countDetections('gone', 'stored', 1)
    await hub.db
      .insertInto('notifications')
      .values({
        key: 'k',
        channel: 'email',
        kind: 'x',
        content: '{}',
        state: 'failed',
        attempts: 10,
        created_at: 0,
        due_at: 0,
      })
      .execute()
    const { body } = await scrape()
    const series = (name: string) =>
      body.split('\n').filter((line) => line.startsWith(`hedgerow_${name}{`) && line.includes(id))
    expect(series('gateway_status')).toEqual([`hedgerow_gateway_status{gateway="${id}",status="warning"} 1`])
    expect(series('gateway_last_seen_timestamp_seconds')).toEqual([
      `hedgerow_gateway_last_seen_timestamp_seconds{gateway="${id}"} ${lastHandshake / 1_000}`,
    ])
    expect(series('gateway_detections_total').map((line) => line.split('result=')[1])).toEqual([
      '"stored"} 3',
      '"refused"} 2',
    ])
    expect(series('gateway_tunnel_bytes_total')).toHaveLength(2)
    expect(body, 'of an unknown gateway').not.toContain('"gone"')
    expect(body).toMatch(/^hedgerow_certificate_expiry_timestamp_seconds\{certificate="hub-tls"\} \d{10}$/m)
    expect(body).toMatch(/^hedgerow_notifications\{state="failed"\} 1$/m)
  })

  test('show the queue and the restarts of a device that reports them', async () => {
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const { gatewayId: told, peer } = await joinedGateway(hub, headers, 'Orchard')
    const { peer: older } = await joinedGateway(hub, headers, 'Meadow')
    const beat = testHeartbeat(hub.clock.now())
    await peer.post('/api/v1/gateway/heartbeat', {
      ...beat,
      queue: { waiting: 12, lost: 3 },
      restarts: { sinceBoot: 82, lastHour: 82, lastDay: 82, reason: 'an uncaught TypeError' },
    })
    await older.post('/api/v1/gateway/heartbeat', beat)
    await Promise.all([peer.stop(), older.stop()])
    const { body } = await scrape()
    const lines = body.split('\n').filter((line) => /^hedgerow_gateway_(queued|lost|restarts)/.test(line))
    expect(lines).toEqual([
      `hedgerow_gateway_queued_detections{gateway="${told}"} 12`,
      `hedgerow_gateway_lost_detections{gateway="${told}"} 3`,
      `hedgerow_gateway_restarts_total{gateway="${told}"} 82`,
    ])
  })

  test('are each in the document, and no other is', async () => {
    const { body } = await scrape()
    const served = [...body.matchAll(/^# TYPE (hedgerow_\w+) /gm)].map(([, name]) => name!)
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/operations/metrics.md'), 'utf8')
    const listed = [...page.matchAll(/^\| `(hedgerow_\w+)`/gm)].map(([, name]) => name!)
    expect(listed.toSorted()).toEqual(served.toSorted())
  })

  test.skipIf(!hasPromtool)('pass promtool (skipped where it is not installed)', async () => {
    const { body } = await scrape()
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' })
    const findings = `${checked.stdout}${checked.stderr}`.split('\n')
    expect(findings.filter((line) => line.includes('hedgerow_'))).toEqual([])
  })

  test.each(['', 'Bearer ', 'Bearer another-token-here', `Basic ${token}`, token])(
    'are refused to %j',
    async (sent) => {
      expect((await scrape(sent)).statusCode).toBe(401)
    },
  )
})

test('on a port of their own need no token, and the hub’s port has none', async () => {
  const hub = await startTestHub('sqlite', {
    metrics: { port: 0, host: '127.0.0.1', token: undefined, gateways: false },
  })
  await hub.start()
  expect((await hub.app.inject({ url: '/metrics' })).body).not.toContain('hedgerow_')
  const { port } = hub.metrics.address()!
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(await answer.text()).toContain('hedgerow_gateways')
  expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404)
  await hub.stop()
  await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow('fetch failed')
})

test('do not exist unless configured', async () => {
  const hub = await startTestHub('sqlite')
  expect(
    (await hub.app.inject({ url: '/metrics', headers: { authorization: 'Bearer undefined' } })).body,
  ).not.toContain('hedgerow_')
  await hub.stop()
})
