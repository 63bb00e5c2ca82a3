import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hubSettings, type ApprovedRegistration, type HubSettings, type Role } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice } from '#testing/device.ts'
import { joinTunnel, type TestPeer } from '#testing/peer.ts'
import { openRecords } from '../followers/followers.ts'
import { saveSettings } from './save.ts'
import { keepSettings, readSettings } from './settings.ts'

const DAY_MS = 86_400_000

describe.each(testEngines)('the settings of the hub on %s', (engine) => {
  let hub: TestHub
  const stops: (() => void | Promise<void>)[] = []
  beforeEach(async () => {
    hub = await startTestHub(engine)
    stops.push(() => hub.stop())
  })
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop()
  })

  const call = async (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object, role: Role = 'admin') =>
    hub.app.inject({
      method,
      url: `/api/v1${url}`,
      headers: { authorization: `Bearer ${await hub.signIn(role)}`, host: 'hub.example:8080' },
      ...(payload && { payload }),
    })
  const read = async (role?: Role): Promise<HubSettings> => (await call('GET', '/hub/settings', undefined, role)).json()
  const save = (change: Partial<HubSettings>, role?: Role) => call('PATCH', '/hub/settings', change, role)
  const device = (name = 'Barn') => createTestDevice(hub.app, { now: hub.clock.now, name })
  const approve = (id: string) => call('POST', `/admin/gateway-requests/${id}/approve`)

  /** An enrolled device with a tunnel. */
  async function joined(): Promise<{ peer: TestPeer; rejoin: () => Promise<TestPeer> }> {
    const barn = device()
    const { registrationId } = (await barn.register()).body
    await approve(registrationId)
    let current: TestPeer | undefined
    stops.push(async () => current?.stop())
    const rejoin = async () => {
      // Two devices with one key would take the tunnel from each other.
      await current?.stop()
      current = undefined
      const nonce = randomBytes(32).toString('base64')
      const approved = (await barn.status(registrationId, { nonce })).body as unknown as ApprovedRegistration
      const presharedKey = barn.presharedKey(approved, nonce)!
      current = await joinTunnel({ ...approved, presharedKey, privateKey: barn.privateKey, hubPort: hub.vpn.port })
      return current
    }
    return { peer: await rejoin(), rejoin }
  }
  const beat = (peer: TestPeer) => peer.post('/api/v1/gateway/heartbeat', testHeartbeat(hub.clock.now()))

  it('start with their defaults, are readable for everybody signed in, and changed by admins', async () => {
    expect(await read('user')).toEqual(hubSettings.parse({}))
    expect((await save({ hubName: 'Orchard' }, 'manager')).json().error).toBe('role_required')
    expect((await save({ hubName: 'Orchard' })).json()).toEqual(hubSettings.parse({ hubName: 'Orchard' }))
    expect((await read('user')).hubName).toBe('Orchard')
  })

  it('keep settings that a change omits, and refuse unknown ones and invalid values', async () => {
    await save({ twoFactorRequired: false, passwordComplexity: false })
    await save({ hubName: 'Orchard' })
    expect(await read()).toMatchObject({ passwordComplexity: false, hubName: 'Orchard' })
    for (const odd of [{ maxGateways: 0 }, { maxGateways: 1.5 }, { sessionTimeout: '3600' }, { autoApproval: {} }]) {
      const response = await call('PATCH', '/hub/settings', odd)
      expect([response.statusCode, Object.keys(response.json().fieldErrors)]).toEqual([400, Object.keys(odd)])
    }
  })

  it('leave an audit entry that names the changes, also when the audit log itself was switched', async () => {
    await save({ hubName: 'Orchard', maxGateways: 5 })
    await save({ hubName: 'Orchard' })
    const entries = () =>
      hub.db.selectFrom('audit').select(['actor', 'reason']).where('action', '=', 'settings.change').execute()
    expect(await entries()).toEqual([
      { actor: 'the-admin', reason: 'hub name: nothing → Orchard; maximum number of gateways: 100 → 5' },
    ])
    await save({ enableAuditLog: false })
    expect((await entries()).at(-1)?.reason).toBe('audit log: on → off')
    await save({ hubDescription: 'Rows 1 to 9\nand the pond', enableAuditLog: true })
    expect((await entries()).at(-1)?.reason).toBe('hub description changed; audit log: off → on')
  })

  it('maxGateways stops the next approval and the next addition at once', async () => {
    const first = (await device('A').register()).body.registrationId
    const second = (await device('B').register()).body.registrationId
    await save({ maxGateways: 1 })
    expect((await approve(first)).statusCode).toBe(200)
    expect((await approve(second)).json().error).toBe('gateway_limit_reached')
    expect((await call('POST', '/hub/gateways', { name: 'Router' })).json().error).toBe('gateway_limit_reached')
    await save({ maxGateways: 2 })
    expect((await approve(second)).statusCode).toBe(200)
  })

  it('sessionTimeout applies to new sign-ins and shortens longer sessions', async () => {
    const token = await hub.signIn('user')
    await save({ sessionTimeout: 60 })
    const validate = () =>
      hub.app.inject({ method: 'GET', url: '/api/v1/auth/validate', headers: { authorization: `Bearer ${token}` } })
    expect((await validate()).statusCode).toBe(200)
    hub.clock.advance(61_000)
    expect((await validate()).json().error).toBe('session_ended')
    const fresh = await hub.sessions.start(
      { id: await hub.addUser('late', 'user', 'a password of some length') },
      { sourceIp: '', userAgent: '' },
    )
    const { exp, iat } = JSON.parse(Buffer.from(fresh.split('.')[1]!, 'base64url').toString())
    expect(exp - iat).toBeGreaterThanOrEqual(59)
    expect(exp - iat).toBeLessThanOrEqual(61)
  })

  it('enableVpn stops the tunnel and starts it again, with its former peers', async () => {
    const { peer } = await joined()
    expect((await beat(peer)).status).toBe(200)
    const { port } = hub.vpn
    expect((await save({ enableVpn: false })).statusCode).toBe(200)
    expect(await peer.isUnheard()).toBe(true)
    const { registrationId } = (await device('Shed').register()).body
    expect((await approve(registrationId)).json().error).toBe('vpn_disabled')
    expect((await save({ enableVpn: true })).statusCode).toBe(200)
    expect(hub.vpn.port, 'the port that gateways know').toBe(port)
    await vi.waitFor(async () => expect((await beat(peer)).status).toBe(200), { timeout: 30_000 })
    expect((await approve(registrationId)).statusCode).toBe(200)
  })

  it('enableVpn says why the tunnel cannot be started, and keeps its old value', async () => {
    await save({ enableVpn: false })
    const occupant = createSocket('udp6')
    await new Promise<void>((resolve) => occupant.bind(hub.vpn.port, '::', resolve))
    stops.push(() => void occupant.close())
    const response = await save({ enableVpn: true })
    expect([response.statusCode, response.json().error]).toEqual([409, 'vpn_start_failed'])
    expect((await read()).enableVpn).toBe(false)
    expect((await hub.app.inject('/readyz')).statusCode, 'ready: no tunnel is wanted').toBe(200)
  })

  it('a tunnel that should run and does not makes the hub not ready, and says so', async () => {
    const settings = { enabled: true, networkCidr: hub.vpn.network }
    const ready = async () => {
      const answer = await hub.app.inject('/readyz')
      return { status: answer.statusCode, body: answer.json() }
    }
    expect((await ready()).status).toBe(200)
    await hub.vpn.configure({ ...settings, enabled: false })
    const occupant = createSocket('udp6')
    await new Promise<void>((resolve) => occupant.bind(hub.vpn.port, '::', resolve))
    await expect(hub.vpn.configure(settings)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(await ready()).toEqual({
      status: 503,
      body: { error: 'vpn_unavailable', message: 'The hub is not ready: the VPN could not be started.' },
    })
    await new Promise<void>((resolve) => occupant.close(resolve))
    await hub.vpn.configure(settings)
    expect((await ready()).status).toBe(200)
  })

  it('vpnNetwork moves the tunnel while every address in use stays inside', async () => {
    const { rejoin } = await joined()
    expect((await save({ vpnNetwork: '10.96.0.0/12' })).statusCode).toBe(200)
    expect(hub.vpn.address).toBe('10.96.0.1')
    const moved = await rejoin()
    expect((await beat(moved)).status).toBe(200)
    const added = (await call('POST', '/hub/gateways', { name: 'Router' })).json()
    expect(added.vpnInternalIp, 'new gateways get their address there').toBe('10.96.0.2')
  })

  it.each([
    [
      '10.101.0.0/16',
      409,
      'vpn_network_in_use',
      'A gateway in use would be outside that network: "Barn" has 10.100.0.7.',
    ],
    [
      '10.100.0.4/30',
      409,
      'vpn_network_in_use',
      'A gateway in use would be outside that network: "Barn" has 10.100.0.7.',
    ],
    [
      '10.100.0.1/16',
      400,
      'invalid_request',
      'Enter an IPv4 network of /8 to /30 from its first address, as in 10.100.0.0/16',
    ],
    [
      '10.100.0.0/31',
      400,
      'invalid_request',
      'Enter an IPv4 network of /8 to /30 from its first address, as in 10.100.0.0/16',
    ],
    [
      '010.100.0.0/16',
      400,
      'invalid_request',
      'Enter an IPv4 network of /8 to /30 from its first address, as in 10.100.0.0/16',
    ],
  ])('vpnNetwork refuses %s and leaves everything as it was', async (vpnNetwork, status, error, message) => {
    await insertTestGateway(hub.db, { name: 'Barn', address: '10.100.0.7' })
    const response = await save({ vpnNetwork, hubName: 'Changed' })
    expect([response.statusCode, response.json()]).toEqual([
      status,
      { error, message, fieldErrors: { vpnNetwork: message } },
    ])
    expect(await read()).toMatchObject({ vpnNetwork: '10.100.0.0/16', hubName: '' })
    expect(hub.vpn.network).toBe('10.100.0.0/16')
  })

  it('concurrent changes leave the tunnel as it is in the database', async () => {
    await Promise.all(
      ['10.0.0.0/8', '10.96.0.0/12', '10.100.0.0/16', '10.64.0.0/10'].map((vpnNetwork) => save({ vpnNetwork })),
    )
    expect(hub.vpn.network).toBe((await read()).vpnNetwork)
  })

  it('enableAuditLog takes effect at once', async () => {
    const actions = async () =>
      (await hub.db.selectFrom('audit').select('action').execute()).map(({ action }) => action)
    const add = (name: string) => call('POST', '/hub/gateways', { name })
    await add('One')
    await save({ enableAuditLog: false })
    await add('Two')
    await save({ enableAuditLog: true })
    await add('Three')
    expect((await actions()).filter((action) => action === 'gateway.add')).toHaveLength(2)
  })

  it('logRetentionDays deletes older rows, in batches and at once when it is lowered, and keeps the rest', async () => {
    // The hub's first look at its clock takes the newest activity for the last time: old rows would be a leap.
    await hub.retention.purge()
    const id = await insertTestGateway(hub.db)
    const now = hub.clock.now()
    const old = now - 40 * DAY_MS
    const userId = await hub.addUser('visitor', 'user', 'a password of some length')
    const ages = [...Array.from({ length: 1_200 }, () => old), now - DAY_MS]
    const inBatches = async <T>(rows: T[], insert: (batch: T[]) => Promise<unknown>) => {
      for (let i = 0; i < rows.length; i += 300) await insert(rows.slice(i, i + 300))
    }
    const activity = ages.map((at) => ({ at, type: 'info' as const, message: 'x' }))
    await inBatches(activity, (batch) => hub.db.insertInto('activity').values(batch).execute())
    const detections = ages.map((started_at, i) => ({
      gateway_id: id,
      id: `d${i}`,
      camera: 'c',
      label: 'l',
      severity: 'detection' as const,
      score: 1,
      started_at,
      received_at: started_at,
    }))
    await inBatches(detections, (batch) => hub.db.insertInto('detections').values(batch).execute())
    for (const at of [old, now - DAY_MS]) {
      await hub.db.insertInto('audit').values({ at, actor: 'a', action: 'old.test', result: 'ok' }).execute()
      await hub.db
        .insertInto('ui_access')
        .values({ gateway_id: id, user_id: userId, started_at: at, source_ip: '' })
        .execute()
      await hub.db.insertInto('hourly_stats').values({ hour: at, scope: 's', active_connections: 0 }).execute()
    }
    const count = async (
      table: 'activity' | 'detections' | 'audit' | 'ui_access' | 'hourly_stats',
      at: 'at' | 'started_at' | 'hour',
    ) =>
      (
        await hub.db
          .selectFrom(table)
          .select(({ fn }) => fn.countAll<number>().as('n'))
          .where(at as never, '<=', (now - DAY_MS) as never)
          .executeTakeFirstOrThrow()
      ).n
    const left = () =>
      Promise.all([
        count('activity', 'at'),
        count('detections', 'started_at'),
        count('audit', 'at'),
        count('ui_access', 'started_at'),
        count('hourly_stats', 'hour'),
      ])
    await hub.retention.purge()
    expect(await left(), '90 days').toEqual([1_201, 1_201, 2, 2, 2])
    await save({ logRetentionDays: 30 })
    await vi.waitFor(async () => expect(await left()).toEqual([1, 1, 1, 1, 1]), { timeout: 30_000 })
  })

  it('directHealthCheck decides whether a page may request gateways itself', async () => {
    const webDir = mkdtempSync(join(tmpdir(), 'hub-web-'))
    stops.push(() => rmSync(webDir, { recursive: true }))
    const siteDir = join(webDir, 'site')
    mkdirSync(siteDir)
    writeFileSync(join(webDir, 'index.html'), '<!doctype html>')
    for (const page of ['landing', 'beta', 'beta-register', 'beta-sign-in', 'not-found'])
      writeFileSync(join(siteDir, `${page}.html`), '<!doctype html>')
    writeFileSync(join(webDir, 'portal-paths.json'), '["/gateways"]')
    const withPages = await startTestHub(engine, { webDir, siteDir })
    stops.push(() => withPages.stop())
    const policy = async () => (await withPages.app.inject('/gateways')).headers['content-security-policy']
    const own = 'https://localhost:* http://localhost:* http://*.localhost:80'
    expect(await policy()).toContain(`connect-src 'self' http://*:8080 https://*:8080 ${own};`)
    const headers = { authorization: `Bearer ${await withPages.signIn('admin')}` }
    const payload = { directHealthCheck: false }
    await withPages.app.inject({ method: 'PATCH', url: '/api/v1/hub/settings', headers, payload })
    expect(await policy()).toContain(`connect-src 'self' ${own};`)
  })

  it('are read once for everything that shares them, and again after a change or a failure', async () => {
    let isDown = false
    let statements = 0
    const db = hub.db.withPlugin({
      transformQuery({ node }) {
        statements++
        if (isDown) throw new Error('down')
        return node
      },
      transformResult: async ({ result }) => result,
    })
    openRecords(db, { log: pino({ level: 'silent' }) })
    const kept = keepSettings(db)
    isDown = true
    await expect(kept()).rejects.toThrow('down')
    isDown = false
    for (const hubName of ['Orchard', 'Barn']) {
      const actor = { userId: 'a', username: 'rosa', role: 'admin', sessionId: 's' } as const
      await saveSettings(db, { hubName }, { actor, sourceIp: '', now: hub.clock.now() })
      const before = statements
      const shared = await Promise.all(Array.from({ length: 50 }, kept))
      expect(new Set(shared.map((settings) => settings.hubName))).toEqual(new Set([hubName]))
      expect([await kept(), statements]).toEqual([await readSettings(hub.db), before + 1])
    }
  })
})
