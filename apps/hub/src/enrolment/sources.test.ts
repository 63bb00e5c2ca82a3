import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '@hedgerow/contract'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice } from '#testing/device.ts'

const REQUESTS = '/api/v1/admin/gateway-requests'

describe.each(testEngines)('sources of many requests on %s', (engine) => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub(engine)
  })
  afterAll(() => hub.stop())

  const as = async (role: Role) => ({ authorization: `Bearer ${await hub.signIn(role)}` })
  const sources = async () =>
    (await hub.app.inject({ method: 'GET', url: `${REQUESTS}/sources`, headers: await as('manager') })).json()
  const rejectAll = async (payload: object, role: Role = 'manager') =>
    hub.app.inject({ method: 'POST', url: `${REQUESTS}/reject-source`, headers: await as(role), payload })
  const enter = async (from: string) => {
    const device = createTestDevice(hub.app, { from, now: hub.clock.now })
    return { device, id: (await device.register()).body.registrationId }
  }

  it('are named without overlap, and rejected by one call that answers each and leaves one audit entry', async () => {
    for (let i = 0; i < 24; i++) await enter(`2001:db8:7:${(i % 12).toString(16)}::${i + 1}`)
    for (let i = 0; i < 6; i++) await enter('198.51.100.9')
    const other = await enter('2001:db8:8::1')
    const ofCrowd = await enter('2001:db8:7:5::77')
    expect(await sources()).toEqual([
      { source: '2001:db8:7::/56', waiting: 25 },
      { source: '198.51.100.9', waiting: 6 },
    ])

    const held = ofCrowd.device.status(ofCrowd.id, { waitSeconds: 25 })
    const answer = await rejectAll({ source: '2001:db8:7::/48', reason: 'A flood' })
    expect([answer.statusCode, answer.json()]).toEqual([200, { rejected: 25 }])
    expect((await held).body).toEqual({ status: 'rejected', reason: 'A flood' })
    expect((await other.device.status(other.id)).body.status).toBe('pending')
    expect(await sources()).toEqual([{ source: '198.51.100.9', waiting: 6 }])
    const audit = await hub.db
      .selectFrom('audit')
      .select(['actor', 'target', 'result'])
      .where('action', '=', 'registration.reject-source')
      .execute()
    expect(audit).toEqual([{ actor: 'the-manager', target: '2001:db8:7::/48', result: 'ok' }])
    expect((await rejectAll({ source: '198.51.100.9', reason: 'And these' })).json()).toEqual({ rejected: 6 })
  })

  it('leaves claimed requests, and refuses an invalid network', async () => {
    const claimed = await enter('198.51.100.20')
    const payload = { deviceToken: claimed.device.deviceToken }
    const claim = { method: 'POST' as const, url: '/api/v1/gateway/claim', headers: await as('user'), payload }
    expect((await hub.app.inject(claim)).statusCode).toBe(200)
    await enter('198.51.100.20')
    expect((await rejectAll({ source: '198.51.100.0/24', reason: 'x' })).json()).toEqual({ rejected: 1 })
    const wrong = await rejectAll({ source: 'everybody', reason: 'x' })
    expect([wrong.statusCode, wrong.json().fieldErrors]).toEqual([400, { source: expect.stringContaining('/48') }])
    expect((await rejectAll({ source: '198.51.100.0/24', reason: 'x' }, 'user')).statusCode).toBe(403)
  })
})
