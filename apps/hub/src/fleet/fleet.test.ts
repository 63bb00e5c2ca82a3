import type { Gateway, Role } from '@hedgerow/contract'
import { publicKeyOf } from '@hedgerow/wireguard/node'
import type { PrivateKey } from '@hedgerow/wireguard'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice } from '#testing/device.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { ownedBy } from '../access/ownership.ts'

describe.each(testEngines)('the fleet on %s', (engine) => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub(engine)
  })
  afterAll(() => hub.stop())
  beforeEach(() => hub.db.deleteFrom('gateways').execute())

  const as = async (role: Role) => ({ authorization: `Bearer ${await hub.signIn(role)}`, host: 'hub.example:8080' })
  const get = async (url: string, role: Role = 'manager') =>
    hub.app.inject({ method: 'GET', url, headers: await as(role) })
  const post = async (url: string, payload: object, role: Role = 'manager') =>
    hub.app.inject({ method: 'POST', url, headers: await as(role), payload })
  const list = async (role: Role = 'manager'): Promise<Gateway[]> => (await get('/api/v1/hub/gateways', role)).json()
  const userId = async (role: Role) => {
    await hub.signIn(role)
    const row = await hub.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', `the-${role}`)
      .executeTakeFirstOrThrow()
    return row.id
  }

  describe('seen', () => {
    it('by managers and admins completely, by users only their own gateways, sorted by name', async () => {
      await insertTestGateway(hub.db, { name: 'Shed' })
      await insertTestGateway(hub.db, { name: 'barn', ...ownedBy(await userId('user')) })
      expect((await list('manager')).map((gateway) => gateway.name)).toEqual(['barn', 'Shed'])
      expect((await list('admin')).map((gateway) => gateway.name)).toEqual(['barn', 'Shed'])
      expect((await list('user')).map((gateway) => gateway.name)).toEqual(['barn'])
    })

    it('with what is snoozed there, until it ends, also while nothing is heard from it', async () => {
      hub.clock.freeze()
      const now = hub.clock.now()
      const id = await insertTestGateway(hub.db, { name: 'Barn' })
      // Its clock is an hour behind.
      const clock = now - 3_600_000
      const by = { by: 'rosa', at: clock, until: clock + 600_000 }
      hub.heartbeats.record(
        id,
        testHeartbeat(clock, {
          armed: false,
          cameras: [{ name: 'gate', state: 'online', fps: 5 }],
          snoozes: [
            { kind: 'maintenance', camera: null, ...by },
            { kind: 'snooze', camera: 'gate', ...by, until: clock + 86_400_000 },
          ],
        }),
      )
      const until = new Date(now + 600_000).toISOString()
      const [gateway] = await list()
      expect(gateway).toMatchObject({
        protection: { state: 'maintenance', reason: 'by rosa', until },
        snoozes: [
          { kind: 'maintenance', camera: null, by: 'rosa', until },
          { kind: 'snooze', camera: 'gate' },
        ],
      })
      hub.clock.advance(599_000)
      expect((await list())[0]).toMatchObject({ status: 'offline', protection: { state: 'maintenance' } })
      hub.clock.advance(2_000)
      expect((await list())[0]).toMatchObject({
        protection: { state: 'offline' },
        snoozes: [{ kind: 'snooze', camera: 'gate' }],
      })
    })

    it('with everything the portal shows and no key but the hub’s', async () => {
      const id = await insertTestGateway(hub.db, {
        name: 'Barn',
        location: 'North field',
        device_token: 'DT-0123456789AB',
        private_key: 'a private key',
        preshared_key: 'a preshared key',
        identity_public_key: 'an identity',
        address: '10.100.0.9',
        source_ip: '198.51.100.7',
        version: '1.2.3',
      })
      const [gateway] = await list()
      expect(gateway).toEqual({
        id,
        name: 'Barn',
        status: 'offline',
        statusReason: 'no heartbeat yet, no VPN handshake yet',
        protection: { state: 'offline', reason: 'nothing is heard from it', until: null, isBrief: false },
        timeZone: null,
        snoozes: [],
        kind: 'enrolled',
        location: 'North field',
        site: null,
        description: '',
        tags: [],
        publicIp: '198.51.100.7',
        vpnInternalIp: '10.100.0.9',
        vpnAddress: '10.100.0.9/24',
        hubPublicKey: hub.vpn.publicKey,
        version: '1.2.3',
        lastSeen: null,
        troubleSince: null,
        connectedUsers: 0,
        applications: [],
        blockedUdp: null,
        deviceToken: 'DT-0123456789AB',
        owner: null,
        createdAt: expect.stringMatching(/^\d{4}-/),
      })
    })

    it('by nobody without a session', async () => {
      const response = await hub.app.inject({ method: 'GET', url: '/api/v1/hub/gateways' })
      expect(response.statusCode).toBe(401)
    })
  })

  describe('added for plain WireGuard', () => {
    const add = (payload: object, role: Role = 'manager') => post('/api/v1/hub/gateways', payload, role)
    const config = (id: string, role: Role = 'manager') => get(`/api/v1/hub/gateways/${id}/vpn-config`, role)

    it('gets keys, an address, a device token and a peer in the tunnel', async () => {
      const response = await add({ name: 'Router', location: 'Attic', description: 'Two\nlines' })
      expect(response.statusCode).toBe(200)
      const gateway: Gateway = response.json()
      expect(gateway).toMatchObject({ name: 'Router', kind: 'wireguard', status: 'offline', description: 'Two\nlines' })
      expect(gateway.deviceToken).toMatch(/^DT-[0-9A-F]{12}$/)
      const row = await hub.db.selectFrom('gateways').selectAll().where('id', '=', gateway.id).executeTakeFirstOrThrow()
      expect(hub.vpn.peers().map((peer) => peer.publicKey)).toContain(row.wireguard_public_key)
      expect(JSON.stringify(gateway)).not.toContain(row.private_key)
    })

    it('has a configuration that wg-quick takes as it stands', async () => {
      const { id } = (await add({ name: 'Router' })).json()
      const row = await hub.db.selectFrom('gateways').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      const response = await config(id)
      expect(response.headers['cache-control']).toBe('no-store')
      expect(response.json().config).toBe(
        [
          '[Interface]',
          `PrivateKey = ${row.private_key}`,
          `Address = ${row.address}/24`,
          'ListenPort = 51820',
          '',
          '[Peer]',
          `PublicKey = ${hub.vpn.publicKey}`,
          `PresharedKey = ${row.preshared_key}`,
          `Endpoint = hub.example:${hub.vpn.port}`,
          'AllowedIPs = 10.100.0.0/16',
          'PersistentKeepalive = 25',
          '',
        ].join('\n'),
      )
      expect(publicKeyOf(row.private_key as PrivateKey)).toBe(row.wireguard_public_key)
      const audit = await hub.db
        .selectFrom('audit')
        .selectAll()
        .where('action', '=', 'gateway.read-vpn-config')
        .execute()
      expect(audit.at(-1)).toMatchObject({ actor: 'the-manager', target: id, result: 'ok' })
      expect(JSON.stringify(audit)).not.toContain(row.private_key)
    })

    it('shows the secrets of an enrolled gateway as kept on the gateway', async () => {
      const id = await insertTestGateway(hub.db)
      const row = await hub.db.selectFrom('gateways').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      const text: string = (await config(id)).json().config
      expect(text).toContain('PrivateKey = <kept on the gateway>\n')
      expect(text).toContain('PresharedKey = <kept on the gateway>\n')
      expect(text).not.toContain(row.preshared_key)
    })

    it('puts no line of a configuration from the Host header into it', async () => {
      const id = await insertTestGateway(hub.db)
      const headers = { ...(await as('manager')), host: 'x PostUp=reboot' }
      const response = await hub.app.inject({ method: 'GET', url: `/api/v1/hub/gateways/${id}/vpn-config`, headers })
      expect(response.statusCode).toBe(400)
      expect(response.body).not.toContain('reboot')
    })

    it('needs a name that is unique, ignoring case and width', async () => {
      await add({ name: 'Router' })
      for (const name of ['router', ' ROUTER ', 'Ｒouter']) {
        const response = await add({ name })
        expect([response.statusCode, response.json().error]).toEqual([409, 'gateway_name_taken'])
      }
      const racing = await Promise.all(Array.from({ length: 4 }, () => add({ name: 'Racer' })))
      expect(racing.map((response) => response.statusCode).toSorted()).toEqual([200, 409, 409, 409])
      expect((await add({ name: '  ' })).json().fieldErrors).toHaveProperty('name')
      expect((await add({ name: 'Other', deviceToken: 'DT-000000000000' })).json().fieldErrors).toHaveProperty(
        'deviceToken',
      )
    })

    it('is for managers and up, and so is its configuration', async () => {
      const id = await insertTestGateway(hub.db, ownedBy(await userId('user')))
      for (const response of [await add({ name: 'Router' }, 'user'), await config(id, 'user')])
        expect([response.statusCode, response.json().error]).toEqual([403, 'role_required'])
      expect((await config('a'.repeat(12))).json().error).toBe('gateway_not_found')
      expect((await config('../../etc')).statusCode).toBe(404)
    })
  })

  describe('claimed', () => {
    const claim = (deviceToken: string, role: Role = 'user') => post('/api/v1/gateway/claim', { deviceToken }, role)

    it('by its token, in any spelling, makes the caller its owner, once', async () => {
      const id = await insertTestGateway(hub.db, { name: 'Barn', device_token: 'DT-0123456789AB' })
      const claimed = { name: 'Barn', status: 'claimed', gatewayId: id }
      expect((await claim(' dt-0123456789ab ')).json()).toEqual(claimed)
      expect((await claim('DT-0123456789AB')).json(), 'again by the owner').toEqual(claimed)
      expect(await list('user')).toMatchObject([{ id, owner: 'the-user' }])
      const messages = await hub.db.selectFrom('activity').select('message').where('gateway_id', '=', id).execute()
      expect(messages).toEqual([{ message: 'Gateway "Barn" was claimed by the-user' }])
    })

    it('answers alike for an unknown token and for another owner’s', async () => {
      await insertTestGateway(hub.db, { device_token: 'DT-0123456789AB', ...ownedBy(await userId('admin')) })
      const theirs = await claim('DT-0123456789AB', 'manager')
      const unknown = await claim('DT-000000000000', 'manager')
      expect([theirs.statusCode, theirs.json().error]).toEqual([404, 'claim_refused'])
      expect(theirs.json()).toEqual(unknown.json())
    })

    it('by several at once has one owner', async () => {
      const id = await insertTestGateway(hub.db, { device_token: 'DT-0123456789AB' })
      const answers = await Promise.all([claim('DT-0123456789AB'), claim('DT-0123456789AB', 'admin')])
      expect(answers.map((answer) => answer.statusCode).toSorted()).toEqual([200, 404])
      const winner = answers[0].statusCode === 200 ? 'the-user' : 'the-admin'
      expect((await list()).find((gateway) => gateway.id === id)?.owner).toBe(winner)
    })

    it('locks the caller for 15 minutes after five wrong tries, also concurrent ones', async () => {
      hub.clock.advance(16 * 60_000)
      await insertTestGateway(hub.db, { device_token: 'DT-0123456789AB' })
      const wrong = await Promise.all(Array.from({ length: 8 }, (_, i) => claim(`DT-00000000000${i}`)))
      expect(wrong.map((answer) => answer.statusCode).toSorted()).toEqual([404, 404, 404, 404, 404, 429, 429, 429])
      const right = await claim('DT-0123456789AB')
      expect([right.statusCode, right.json().error]).toEqual([429, 'claim_locked'])
      expect((await claim('DT-000000000000', 'admin')).statusCode, 'others are not locked').toBe(404)
      hub.clock.advance(15 * 60_000)
      expect((await claim('DT-0123456789AB')).statusCode).toBe(200)
    })

    it('is no longer locked when the clock was a year ahead meanwhile', async () => {
      const yearMs = 365 * 86_400_000
      hub.clock.advance(yearMs)
      const id = await hub.addUser('early', 'user', 'orchard-lantern-42')
      const claimAs = async (deviceToken: string) => {
        const token = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
        const headers = { authorization: `Bearer ${token}` }
        const url = '/api/v1/gateway/claim'
        return (await hub.app.inject({ method: 'POST', url, payload: { deviceToken }, headers })).statusCode
      }
      for (let i = 0; i < 5; i++) await claimAs(`DT-00000000000${i}`)
      expect(await claimAs('DT-000000000009')).toBe(429)
      hub.clock.advance(-yearMs)
      expect(await claimAs('DT-000000000009')).toBe(404)
    })

    it('before approval makes the caller its owner on approval', async () => {
      const device = createTestDevice(hub.app, { now: hub.clock.now })
      await device.register()
      expect((await claim(device.deviceToken)).json()).toEqual({ name: 'Barn', status: 'pending', gatewayId: null })
      expect((await claim(device.deviceToken, 'admin')).json().error).toBe('claim_refused')
    })

    it('refuses an invalid token', async () => {
      expect((await claim('hello')).json().fieldErrors).toHaveProperty('deviceToken')
    })
  })

  it('a token finds its gateway for people who may see it, and nothing for others', async () => {
    const id = await insertTestGateway(hub.db, { device_token: 'DT-0123456789AB' })
    const ask = async (deviceToken: string, role: Role) =>
      (await post('/api/v1/gateway/validate-access', { deviceToken }, role)).json()
    expect(await ask('DT-0123456789AB', 'manager')).toEqual({ authorized: true, gatewayId: id })
    expect(await ask('DT-0123456789AB', 'user')).toEqual({ authorized: false, gatewayId: null })
    expect(await ask('DT-000000000000', 'user')).toEqual({ authorized: false, gatewayId: null })
    await hub.db
      .updateTable('gateways')
      .set(ownedBy(await userId('user')))
      .where('id', '=', id)
      .execute()
    expect(await ask('DT-0123456789AB', 'user')).toEqual({ authorized: true, gatewayId: id })
  })
})
