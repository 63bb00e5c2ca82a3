import type { AutoApprovalSettings, PendingRegistration } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { createTestDevice } from '#testing/device.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

const FROM = '198.51.100.7'
const ON: Partial<AutoApprovalSettings> = { enabled: true, requireAdminApproval: false, ipWhitelist: [FROM] }
const DAY_MS = 86_400_000

describe.each(testEngines)('devices that a rule approves but the hub cannot admit, on %s', (engine) => {
  let hub: TestHub
  beforeEach(async () => {
    hub = await startTestHub(engine, {
      notifications: { smtp: undefined, webhook: { url: 'http://127.0.0.1:9/', secret: 'sixteen characters' } },
    })
    await rules(ON)
  })
  afterEach(() => hub.stop())

  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    return hub.app.inject({ method, url: `/api/v1${url}`, headers, ...(payload && { payload }) })
  }
  const rules = (settings: Partial<AutoApprovalSettings>) => call('PATCH', '/admin/auto-approval/settings', settings)
  const settings = (change: object) => call('PATCH', '/hub/settings', change)
  const device = (options: Parameters<typeof createTestDevice>[1] = {}) =>
    createTestDevice(hub.app, { now: hub.clock.now, ...options })
  const join = async (...names: string[]) => {
    const statuses: string[] = []
    for (const name of names) statuses.push((await device({ name }).register()).body.status)
    return statuses
  }
  const waiting = async () =>
    ((await call('GET', '/admin/gateway-requests/pending')).json() as PendingRegistration[]).map(
      ({ deviceName, waitsFor }) => [deviceName, waitsFor?.message],
    )
  const members = async () => {
    const rows = await hub.db.selectFrom('gateways').select('name').orderBy('name').execute()
    return rows.map(({ name }) => name)
  }
  const alerts = async () => {
    const rows = await hub.db
      .selectFrom('notifications')
      .select('content')
      .where('kind', '=', 'registration.held')
      .orderBy('id')
      .execute()
    return rows.map(({ content }) => (JSON.parse(content) as { title: string }).title)
  }

  it('a full hub says so in the queue, and a higher limit admits them, oldest first', async () => {
    await settings({ maxGateways: 1 })
    expect(await join('A', 'B', 'C', 'D')).toEqual(['approved', 'pending', 'pending', 'pending'])
    const full = 'The hub is full: 1 of 1 gateways.'
    expect(await waiting()).toEqual([
      ['B', full],
      ['C', full],
      ['D', full],
    ])
    await settings({ maxGateways: 3 })
    expect(await members()).toEqual(['A', 'B', 'C'])
    expect(await waiting()).toEqual([['D', 'The hub is full: 3 of 3 gateways.']])
    expect(hub.vpn.peers()).toHaveLength(3)
    const activity = await hub.db.selectFrom('activity').select('message').orderBy('id').execute()
    const messages = activity.map(({ message }) => message)
    expect(messages).toContain(`New gateway "B" waits, from ${FROM}: ${full}`)
    expect(messages).toContain('Gateway "C" was approved automatically, since it is in the IP whitelist: 10.100.0.4')
  })

  it('a device with an open status request gets its approval at once', async () => {
    await settings({ maxGateways: 1 })
    await join('A')
    const second = device({ name: 'B' })
    const { registrationId } = (await second.register()).body
    const decided = second.status(registrationId, { waitSeconds: 25 })
    await settings({ maxGateways: 2 })
    expect((await decided).body).toMatchObject({ status: 'approved', assignedIp: '10.100.0.3' })
  })

  it('a gateway that is deleted makes room for the next', async () => {
    await settings({ maxGateways: 1 })
    await join('A', 'B')
    const { id } = await hub.db.selectFrom('gateways').select('id').executeTakeFirstOrThrow()
    expect((await call('DELETE', `/hub/gateways/${id}`, { name: 'A' })).statusCode).toBe(204)
    expect(await members()).toEqual(['B'])
    expect(await waiting()).toEqual([])
  })

  it('devices wait for a free address until the network is larger', async () => {
    await settings({ vpnNetwork: '10.100.0.0/30' })
    expect(await join('A', 'B')).toEqual(['approved', 'pending'])
    expect(await waiting()).toEqual([['B', 'No address is free in 10.100.0.0/30.']])
    await settings({ vpnNetwork: '10.100.0.0/29' })
    expect(await members()).toEqual(['A', 'B'])
    expect(hub.vpn.peers()).toHaveLength(2)
  })

  it('devices wait while the tunnel is off, and join when it is on', async () => {
    await settings({ enableVpn: false })
    expect(await join('A')).toEqual(['pending'])
    expect(await waiting()).toEqual([['A', "The hub's VPN does not run."]])
    await settings({ enableVpn: true })
    expect(await members()).toEqual(['A'])
    expect(hub.vpn.peers()).toHaveLength(1)
  })

  it('a taken token holds one device and no others, until its holder is deleted', async () => {
    const deviceToken = 'DT-0123456789AB'
    await device({ name: 'A', deviceToken }).register()
    await settings({ maxGateways: 1 })
    expect((await device({ name: 'B', deviceToken }).register()).body.status).toBe('pending')
    await join('C')
    await settings({ maxGateways: 2 })
    expect(await members()).toEqual(['A', 'C'])
    expect(await waiting()).toEqual([['B', 'Another gateway has the same device token.']])
    const { id } = await hub.db.selectFrom('gateways').select('id').where('name', '=', 'A').executeTakeFirstOrThrow()
    await call('DELETE', `/hub/gateways/${id}`, { name: 'A' })
    expect(await members()).toEqual(['B', 'C'])
  })

  it('the current rules decide: a device that they no longer approve waits for a person', async () => {
    const { code, invitation } = (await call('POST', '/admin/gateway-invitations', { label: 'Spring' })).json()
    await settings({ maxGateways: 1 })
    await join('A', 'B')
    expect((await device({ name: 'C', from: '203.0.113.5' }).register({}, code)).body.status).toBe('pending')
    await call('DELETE', `/admin/gateway-invitations/${invitation.id}`)
    await rules({ ...ON, ipWhitelist: [] })
    await settings({ maxGateways: 9 })
    expect(await members()).toEqual(['A'])
    expect(await waiting()).toEqual([
      ['B', undefined],
      ['C', undefined],
    ])
    const asked = hub.db.selectFrom('notifications').select('id').where('kind', '=', 'registration.pending')
    expect(await asked.execute(), 'and a person is asked').toHaveLength(2)
  })

  it('a device that no rule approves waits for a person, without a hold', async () => {
    await settings({ maxGateways: 1 })
    await join('A')
    await device({ name: 'Stranger', from: '203.0.113.5' }).register()
    expect(await waiting()).toEqual([['Stranger', undefined]])
    await settings({ maxGateways: 2 })
    expect(await members()).toEqual(['A'])
  })

  it('people are notified once a day for each reason, however many wait', async () => {
    hub.clock.freeze()
    await settings({ maxGateways: 1 })
    await join('A', 'B', 'C')
    const full = 'Devices that may join have to wait: The hub is full: 1 of 1 gateways.'
    expect(await alerts()).toEqual([full])
    hub.clock.advance(DAY_MS)
    // The person's session has ended by then; devices need none.
    await join('D')
    expect(await alerts()).toEqual([full, full])
    const others = hub.db.selectFrom('notifications').select('id').where('kind', '=', 'registration.pending')
    expect(await others.execute(), 'and nobody is asked to approve them').toEqual([])
  })

  it('the same device that asks again is reported once', async () => {
    await settings({ maxGateways: 1 })
    await join('A')
    const second = device({ name: 'B' })
    for (const _ of [1, 2, 3]) await second.register()
    const held = hub.db.selectFrom('facts').select('id').where('kind', '=', 'registration.held')
    expect(await held.execute()).toHaveLength(1)
    expect(await waiting()).toEqual([['B', 'The hub is full: 1 of 1 gateways.']])
  })

  it('the queue shows requests whose invitation is valid now', async () => {
    await rules({ ...ON, autoApproveWithInvitation: false, ipWhitelist: [] })
    const { code, invitation } = (await call('POST', '/admin/gateway-invitations', { label: 'Spring' })).json()
    await device({ name: 'A' }).register({}, code)
    await device({ name: 'B' }).register()
    const held = async () =>
      ((await call('GET', '/admin/gateway-requests/pending')).json() as PendingRegistration[]).map(
        (row) => row.invitation,
      )
    expect(await held()).toEqual(['Spring', null])
    await call('DELETE', `/admin/gateway-invitations/${invitation.id}`)
    expect(await held()).toEqual([null, null])
  })
})

describe('after a crash', () => {
  it('a starting hub admits held devices that have room now', async () => {
    const hub = await startTestHub('sqlite')
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const settings = { ...ON, ipWhitelist: [FROM] }
    await hub.app.inject({ method: 'PATCH', url: '/api/v1/admin/auto-approval/settings', headers, payload: settings })
    await hub.db.insertInto('settings').values({ name: 'maxGateways', value: '1' }).execute()
    for (const name of ['A', 'B']) await createTestDevice(hub.app, { now: hub.clock.now, name }).register()
    // The limit was raised, and the process ended before the followers ran.
    await hub.db.updateTable('settings').set({ value: '2' }).where('name', '=', 'maxGateways').execute()
    expect(await hub.db.selectFrom('gateways').select('id').execute()).toHaveLength(1)
    await hub.start()
    expect(await hub.db.selectFrom('gateways').select('id').execute()).toHaveLength(2)
    await hub.stop()
  })
})
