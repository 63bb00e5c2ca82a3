import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

const token = 'a-token-for-prometheus'

describe.each(testEngines)('metrics on %s', (engine) => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub(engine, { metrics: { port: undefined, host: '127.0.0.1', token } })
  })
  afterAll(() => hub.stop())
  const scrape = async (authorization = `Bearer ${token}`) =>
    hub.app.inject({ url: '/metrics', headers: { authorization } })

  test('tell of requests by route, the fleet by status, the tunnel, the database and the process', async () => {
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

  test.each(['', 'Bearer ', 'Bearer another-token-here', `Basic ${token}`, token])('are not for %j', async (sent) => {
    expect((await scrape(sent)).statusCode).toBe(401)
  })
})

test('on a port of their own they need no token, and the hub’s port has none', async () => {
  const hub = await startTestHub('sqlite', { metrics: { port: 0, host: '127.0.0.1', token: undefined } })
  await hub.start()
  expect((await hub.app.inject({ url: '/metrics' })).body).not.toContain('hedgerow_')
  const { port } = hub.metrics.address()!
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(await answer.text()).toContain('hedgerow_gateways')
  expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404)
  await hub.stop()
  await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow('fetch failed')
})

test('unasked for, there are none', async () => {
  const hub = await startTestHub('sqlite')
  expect(
    (await hub.app.inject({ url: '/metrics', headers: { authorization: 'Bearer undefined' } })).body,
  ).not.toContain('hedgerow_')
  await hub.stop()
})
