import type { Role } from '@hedgerow/contract'
import { fingerprint } from '@hedgerow/enrolment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice, newKeys } from '#testing/device.ts'
import { ownedBy } from '../access/ownership.ts'

const REQUESTS = '/api/v1/admin/gateway-requests'

describe.each(testEngines)('deciding a registration on %s', (engine) => {
  let hub: TestHub
  beforeEach(async () => {
    hub = await startTestHub(engine)
  })
  afterEach(() => hub.stop())

  const device = (options: Parameters<typeof createTestDevice>[1] = {}) =>
    createTestDevice(hub.app, { now: hub.clock.now, ...options })
  const waiting = async (options: Parameters<typeof createTestDevice>[1] = {}) => {
    const its = device(options)
    return { ...its, id: (await its.register()).body.registrationId }
  }
  const as = async (role: Role) => ({ authorization: `Bearer ${await hub.signIn(role)}` })
  const approve = async (id: string, role: Role = 'manager') =>
    hub.app.inject({ method: 'POST', url: `${REQUESTS}/${id}/approve`, headers: await as(role) })
  const reject = async (id: string, reason = 'Not ours', role: Role = 'manager') =>
    hub.app.inject({ method: 'POST', url: `${REQUESTS}/${id}/reject`, headers: await as(role), payload: { reason } })
  const pending = async (role: Role = 'manager') =>
    (await hub.app.inject({ method: 'GET', url: `${REQUESTS}/pending`, headers: await as(role) })).json()
  const gateways = () => hub.db.selectFrom('gateways').selectAll().orderBy('created_at').execute()
  const messages = async () =>
    (await hub.db.selectFrom('activity').select('message').orderBy('id').execute()).map((row) => row.message)
  const peers = () => hub.vpn.peers().map((peer) => peer.publicKey)

  it('lists waiting requests, oldest first, with both fingerprints', async () => {
    const barn = await waiting()
    await waiting({ name: 'Shed' })
    const list = await pending()
    expect(list.map((entry: { deviceName: string }) => entry.deviceName)).toEqual(['Barn', 'Shed'])
    expect(list[0]).toEqual({
      registrationId: barn.id,
      deviceName: 'Barn',
      deviceLocation: 'North field',
      sourceIp: '198.51.100.7',
      requestedAt: expect.stringMatching(/^\d{4}-/),
      deviceVersion: '1.2.3',
      macAddress: '02:00:00:00:00:01',
      wireguardPublicKey: barn.publicKey,
      status: 'pending',
      fingerprint: fingerprint(barn.identity.publicKey),
      hubFingerprint: fingerprint((await barn.challenge()).hubIdentityPublicKey),
      keyChangeFor: null,
      trustedNetwork: false,
      invitation: null,
      waitsFor: null,
    })
  })

  it('shows a user the requests that they claimed, and no others', async () => {
    const barn = await waiting()
    await waiting({ name: 'Shed' })
    expect(await pending('user')).toEqual([])
    const claim = { method: 'POST', url: '/api/v1/gateway/claim', payload: { deviceToken: barn.deviceToken } } as const
    await hub.app.inject({ ...claim, headers: await as('user') })
    expect((await pending('user')).map((entry: { deviceName: string }) => entry.deviceName)).toEqual(['Barn'])
  })

  it('makes a gateway with the lowest free address and adds its peer to the tunnel at once', async () => {
    const barn = await waiting()
    const answer = await approve(barn.id)
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      deviceName: 'Barn',
      assignedIp: '10.100.0.2',
      gatewayId: expect.stringMatching(/^[a-z2-7]{12}$/),
    })
    expect(peers()).toEqual([barn.publicKey])
    expect(await pending()).toEqual([])
    const [row] = await gateways()
    expect(row).toMatchObject({
      name: 'Barn',
      kind: 'enrolled',
      private_key: null,
      device_token: barn.deviceToken,
      version: '1.2.3',
    })
    expect((await approve((await waiting({ name: 'Shed' })).id)).json().assignedIp).toBe('10.100.0.3')
  })

  it('names the decider in activity and audit', async () => {
    const barn = await waiting()
    const shed = await waiting({ name: 'Shed' })
    await approve(barn.id)
    await reject(shed.id)
    expect(await messages()).toEqual([
      'New gateway "Barn" waits for approval, from 198.51.100.7',
      'New gateway "Shed" waits for approval, from 198.51.100.7',
      'Gateway "Barn" was approved by the-manager: 10.100.0.2',
      'Gateway "Shed" was rejected by the-manager',
    ])
    const audit = await hub.db
      .selectFrom('audit')
      .selectAll()
      .where('action', 'like', 'registration.%')
      .orderBy('id')
      .execute()
    expect(audit.map((entry) => [entry.actor, entry.action, entry.target, entry.result])).toEqual([
      ['gateway', 'registration.request', barn.id, 'ok'],
      ['gateway', 'registration.request', shed.id, 'ok'],
      ['the-manager', 'registration.approve', barn.id, 'ok'],
      ['the-manager', 'registration.reject', shed.id, 'ok'],
    ])
  })

  it('is for managers and up', async () => {
    const { id } = await waiting()
    for (const answer of [await approve(id, 'user'), await reject(id, 'no', 'user')])
      expect([answer.statusCode, answer.json().error]).toEqual([403, 'role_required'])
    const nobody = await hub.app.inject({ method: 'POST', url: `${REQUESTS}/${id}/approve` })
    expect([nobody.statusCode, nobody.json().error]).toEqual([401, 'session_required'])
    expect((await approve(id, 'admin')).statusCode).toBe(200)
  })

  it('answers the second decision with registration_decided and changes nothing', async () => {
    const { id } = await waiting()
    await approve(id)
    for (const answer of [await approve(id), await reject(id)])
      expect([answer.statusCode, answer.json().error]).toEqual([409, 'registration_decided'])
    expect(await gateways()).toHaveLength(1)
    const unknown = await approve('a'.repeat(20))
    expect([unknown.statusCode, unknown.json().error]).toEqual([404, 'registration_not_found'])
  })

  it('lets exactly one win when several people decide at once', async () => {
    await as('manager')
    for (let round = 0; round < 5; round++) {
      const { id } = await waiting({ name: `Round ${round}` })
      const answers = await Promise.all([approve(id), reject(id), approve(id), approve(id), reject(id)])
      const statuses = answers.map((answer) => answer.statusCode).toSorted()
      expect(statuses).toEqual([200, 409, 409, 409, 409])
      const row = await hub.db.selectFrom('registrations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      const made = (await gateways()).filter((gateway) => gateway.name === `Round ${round}`)
      expect(made.length).toBe(row.status === 'approved' ? 1 : 0)
    }
    expect(peers()).toHaveLength((await gateways()).length)
  })

  it('gives each of many approved at once an address and a name of its own', async () => {
    await as('manager')
    const ids: string[] = []
    for (let i = 0; i < 12; i++) ids.push((await waiting()).id)
    const answers = await Promise.all(ids.map((id) => approve(id)))
    expect(answers.map((answer) => answer.statusCode)).toEqual(ids.map(() => 200))
    const addresses = answers.map((answer) => answer.json().assignedIp)
    expect(new Set(addresses)).toEqual(new Set(Array.from({ length: 12 }, (_, i) => `10.100.0.${i + 2}`)))
    const names = answers.map((answer) => answer.json().deviceName)
    expect(new Set(names)).toEqual(new Set(['Barn', ...Array.from({ length: 11 }, (_, i) => `Barn ${i + 2}`)]))
  })

  it('refuses one more than maxGateways, and the request keeps waiting', async () => {
    await hub.db.insertInto('settings').values({ name: 'maxGateways', value: '1' }).execute()
    await approve((await waiting()).id)
    const shed = await waiting({ name: 'Shed' })
    const answer = await approve(shed.id)
    expect([answer.statusCode, answer.json().error]).toEqual([409, 'gateway_limit_reached'])
    expect(await pending()).toHaveLength(1)
  })

  it('refuses when every address is taken, and the request waits for a free one', async () => {
    await hub.db.insertInto('settings').values({ name: 'vpnNetwork', value: '"10.100.0.0/30"' }).execute()
    const barn = await waiting()
    const barnApproved = (await approve(barn.id)).json()
    expect(barnApproved.assignedIp).toBe('10.100.0.2')
    const shed = await waiting({ name: 'Shed' })
    const answer = await approve(shed.id)
    expect([answer.statusCode, answer.json().error]).toEqual([409, 'address_pool_exhausted'])
    expect(await pending()).toHaveLength(1)
    expect(peers()).toEqual([barn.publicKey])

    const url = `/api/v1/hub/gateways/${barnApproved.gatewayId}`
    const deletion = { method: 'DELETE', url, headers: await as('manager'), payload: { name: 'Barn' } } as const
    expect((await hub.app.inject(deletion)).statusCode).toBeLessThan(300)
    expect((await approve(shed.id)).json()).toMatchObject({ assignedIp: '10.100.0.2' })
  })

  it('refuses a device token of another gateway, without revealing it to the device', async () => {
    const barn = await waiting()
    await approve(barn.id)
    const copy = device({ deviceToken: barn.deviceToken, name: 'Copy' })
    const registered = await copy.register()
    expect([registered.status, registered.body.status]).toEqual([202, 'pending'])
    const answer = await approve(registered.body.registrationId)
    expect([answer.statusCode, answer.json().error]).toEqual([409, 'device_token_taken'])
    expect((await reject(registered.body.registrationId)).statusCode).toBe(200)
  })

  it('needs a reason to reject, and keeps a rejected identity rejected, also with a new WireGuard key', async () => {
    const barn = await waiting()
    expect((await reject(barn.id, '  ')).json().fieldErrors).toEqual({ reason: 'Rejection reason is required' })
    expect((await reject(barn.id, 'Not ours')).json()).toEqual({ deviceName: 'Barn' })
    expect((await barn.register()).body).toMatchObject({ registrationId: barn.id, status: 'rejected' })
    const rekeyed = await device({ identity: barn.identity }).register()
    expect(rekeyed.body).toMatchObject({ registrationId: barn.id, status: 'rejected' })
    expect(await pending()).toEqual([])
    expect((await barn.status(barn.id)).body).toEqual({ status: 'rejected', reason: 'Not ours' })
  })

  it('answers approved keys with approved and the same row', async () => {
    const barn = await waiting()
    await approve(barn.id)
    expect((await barn.register()).body).toMatchObject({ registrationId: barn.id, status: 'approved' })
    expect(await gateways()).toHaveLength(1)
  })

  it('keeps the owner who claimed it while it waited', async () => {
    const barn = await waiting()
    const claim = { method: 'POST', url: '/api/v1/gateway/claim', payload: { deviceToken: barn.deviceToken } } as const
    const claimed = await hub.app.inject({ ...claim, headers: await as('user') })
    expect(claimed.json()).toEqual({ name: 'Barn', status: 'pending', gatewayId: null })
    await approve(barn.id)
    const list = await hub.app.inject({ method: 'GET', url: '/api/v1/hub/gateways', headers: await as('user') })
    expect(list.json()).toMatchObject([{ name: 'Barn', owner: 'the-user', deviceToken: barn.deviceToken }])
  })

  describe('a key change', () => {
    it.each(['WireGuard key', 'identity'])(
      'of the %s waits by name, and changes the gateway’s keys once approved',
      async (what) => {
        const barn = await waiting()
        const { gatewayId } = (await approve(barn.id)).json()
        const keys = newKeys()
        const renewed = await waiting({
          deviceToken: barn.deviceToken,
          ...(what === 'identity'
            ? { identity: keys.identity, privateKey: barn.privateKey, publicKey: barn.publicKey }
            : { ...keys, identity: barn.identity }),
        })
        expect(renewed.id).not.toBe(barn.id)
        expect(await pending()).toMatchObject([{ registrationId: renewed.id, keyChangeFor: 'Barn' }])
        expect(peers(), 'the old key works until then').toEqual([barn.publicKey])
        expect((await barn.status(barn.id)).body).toMatchObject({ status: 'approved' })

        const before = (await gateways())[0]!
        expect((await approve(renewed.id)).json()).toEqual({ deviceName: 'Barn', assignedIp: '10.100.0.2', gatewayId })
        expect(peers()).toEqual([renewed.publicKey])
        const rows = await gateways()
        expect(rows).toHaveLength(1)
        expect(rows[0]).toMatchObject({
          id: gatewayId,
          wireguard_public_key: renewed.publicKey,
          identity_public_key: renewed.identity.publicKey,
        })
        expect(rows[0]!.preshared_key).not.toBe(before.preshared_key)
        expect((await renewed.status(renewed.id)).body).toMatchObject({ status: 'approved', gatewayId })
        expect((await barn.status(barn.id)).body.error, 'the old keys no longer work').toBe('registration_not_found')
      },
    )

    it('that was rejected leaves the gateway as it is', async () => {
      const barn = await waiting()
      await approve(barn.id)
      const renewed = await waiting({ identity: barn.identity })
      await reject(renewed.id)
      expect(peers()).toEqual([barn.publicKey])
      expect((await barn.register()).body.status).toBe('approved')
    })

    it('back to the old keys is a key change again', async () => {
      const barn = await waiting()
      await approve(barn.id)
      const renewed = await waiting({ identity: barn.identity, deviceToken: barn.deviceToken })
      await approve(renewed.id)
      const back = await barn.register()
      expect(back.body.status).toBe('pending')
      expect(await pending()).toMatchObject([{ keyChangeFor: 'Barn' }])
      await approve(back.body.registrationId)
      expect(peers()).toEqual([barn.publicKey])
    })

    it('with the keys of two gateways is refused', async () => {
      const barn = await waiting()
      const shed = await waiting({ name: 'Shed' })
      await approve(barn.id)
      await approve(shed.id)
      const mixed = device({ identity: barn.identity, privateKey: shed.privateKey, publicKey: shed.publicKey })
      const { status, body } = await mixed.register()
      expect([status, body.error]).toEqual([400, 'key_invalid'])
    })

    it('never changes a gateway’s owner', async () => {
      const barn = await waiting()
      await approve(barn.id)
      const claim = (deviceToken: string, headers: Record<string, string>) =>
        hub.app.inject({ method: 'POST', url: '/api/v1/gateway/claim', payload: { deviceToken }, headers })
      await claim(barn.deviceToken, await as('user'))
      const renewed = await waiting({ identity: barn.identity })
      await claim(renewed.deviceToken, await as('admin'))
      await approve(renewed.id)
      const user = hub.db.selectFrom('users').select('id').where('username', '=', 'the-user')
      expect((await gateways())[0]).toMatchObject(ownedBy((await user.executeTakeFirstOrThrow()).id))
    })
  })

  it('is not possible without a tunnel', async () => {
    const off = await startTestHub(engine, {
      vpn: { backend: 'off', port: 51820, endpointHost: undefined, offload: true },
    })
    try {
      const { body } = await createTestDevice(off.app).register()
      const headers = { authorization: `Bearer ${await off.signIn('manager')}` }
      const answer = await off.app.inject({
        method: 'POST',
        url: `${REQUESTS}/${body.registrationId}/approve`,
        headers,
      })
      expect([answer.statusCode, answer.json().error]).toEqual([409, 'vpn_disabled'])
    } finally {
      await off.stop()
    }
  })
})
