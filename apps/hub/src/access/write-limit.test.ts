import * as contract from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

describe('calls of a person that write', () => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  beforeAll(async () => {
    hub = await startTestHub('sqlite')
    hub.clock.freeze()
    api = createTestApi(hub)
  })
  afterAll(() => hub.stop())

  test('have one rate for all addresses and sessions; reads, sign-out and other people are not limited', async () => {
    const token = await hub.signIn('admin')
    const { id } = (await api(contract.addGateway, { token, body: { name: 'Router' } })).body as contract.Gateway
    const read = (as: string) => api(contract.gatewayVpnConfig, { token: as, params: { id } })
    const statuses: number[] = []
    for (let i = 0; i < 327; i++) statuses.push((await read(token)).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(199)
    expect(
      await hub.db.selectFrom('audit').select('id').where('action', '=', 'gateway.read-vpn-config').execute(),
    ).toHaveLength(199)
    const user = await hub.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'the-admin')
      .executeTakeFirstOrThrow()
    const other = await hub.sessions.start(user, { sourceIp: '198.51.100.1', userAgent: '' })
    expect(await api(contract.editHubSettings, { token: other, body: { hubName: 'Orchard' } })).toMatchObject({
      status: 429,
      body: { error: 'too_many_requests' },
      headers: { 'retry-after': '1' },
    })
    expect((await api(contract.listGateways, { token })).status).toBe(200)
    expect((await read(await hub.signIn('manager'))).status).toBe(200)
    expect((await api(contract.logout, { token: other })).status).toBe(204)
    hub.clock.advance(1_000)
    const afterASecond = await Promise.all(Array.from({ length: 6 }, async () => (await read(token)).status))
    expect(afterASecond.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 200, 429])
  })
})
