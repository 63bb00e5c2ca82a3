import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { GATEWAY_FEATURES, type ApprovedRegistration, type Gateway } from '@hedgerow/contract'
import { createStack } from '@hedgerow/netstack/node'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice } from '#testing/device.ts'
import { joinTunnel, type TestPeer } from '#testing/peer.ts'

describe.each(testEngines)('the tunnel on %s', (engine) => {
  let hub: TestHub
  const stops: (() => Promise<void>)[] = []
  beforeEach(async () => {
    hub = await startTestHub(engine)
    stops.push(() => hub.stop())
  })
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop()
  })

  const headers = async () => ({ authorization: `Bearer ${await hub.signIn('admin')}` })
  const approve = async (id: string) =>
    hub.app.inject({ method: 'POST', url: `/api/v1/admin/gateway-requests/${id}/approve`, headers: await headers() })
  const enrolled = async (name = 'Barn') => {
    const device = createTestDevice(hub.app, { name, now: hub.clock.now })
    const { registrationId } = (await device.register()).body
    await approve(registrationId)
    const nonce = randomBytes(32).toString('base64')
    const approved = (await device.status(registrationId, { nonce })).body as unknown as ApprovedRegistration
    return {
      ...approved,
      privateKey: device.privateKey,
      presharedKey: device.presharedKey(approved, nonce)!,
      device,
      registrationId,
    }
  }
  const join = async (options: Parameters<typeof joinTunnel>[0]): Promise<TestPeer> => {
    const peer = await joinTunnel(options)
    stops.push(peer.stop)
    return peer
  }
  const list = async (): Promise<Gateway[]> =>
    (await hub.app.inject({ method: 'GET', url: '/api/v1/hub/gateways', headers: await headers() })).json()
  const beat = (peer: TestPeer) => peer.post('/api/v1/gateway/heartbeat', testHeartbeat(hub.clock.now()))

  it('carries a heartbeat as soon as the device is approved, and the gateway is online', async () => {
    const barn = await enrolled()
    expect((await list())[0]!.status).toBe('offline')
    const peer = await join({ ...barn, hubPort: hub.vpn.port })
    const { status, body } = await beat(peer)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        serverTime: expect.any(Number),
        settings: { heartbeatIntervalSeconds: 30 },
        features: [...GATEWAY_FEATURES],
        reviews: 0,
      },
    })
    expect((await list())[0]).toMatchObject({
      status: 'online',
      statusReason: expect.stringMatching(/^heartbeat \d+ s ago, VPN handshake \d+ s ago$/),
      version: '2.0.0',
      lastSeen: expect.stringMatching(/^\d{4}-/),
    })
  })

  it('identifies gateways by their address, serves them nothing else, and refuses invalid bodies', async () => {
    const barn = await enrolled()
    const shed = await enrolled('Shed')
    const [first, second] = [
      await join({ ...barn, hubPort: hub.vpn.port }),
      await join({ ...shed, hubPort: hub.vpn.port }),
    ]
    await beat(second)
    const online = (await list()).filter(({ status }) => status === 'online')
    expect(online.map(({ name }) => name)).toEqual(['Shed'])
    for (const path of ['/api/v1/auth/login', '/api/v1/hub/gateways', '/', '/livez']) {
      const { status } = await first.post(path, {})
      expect([404, 405]).toContain(status)
    }
    const odd = await first.post('/api/v1/gateway/heartbeat', { ...testHeartbeat(hub.clock.now()), gatewayId: 'x' })
    expect(odd).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', fieldErrors: { gatewayId: expect.any(String) } },
    })
    const attic = await enrolled('Attic')
    const third = await join({ ...attic, hubPort: hub.vpn.port })
    await hub.db.deleteFrom('gateways').where('id', '=', attic.gatewayId).execute()
    const fromDeleted = await beat(third)
    expect(fromDeleted).toMatchObject({
      status: 403,
      body: { error: 'gateway_unknown' },
    })
  })

  it('lets no gateway send from another’s address or reach another gateway', async () => {
    const barn = await enrolled()
    const shed = await enrolled('Shed')
    const liar = await join({ ...barn, sourceIp: shed.assignedIp, hubPort: hub.vpn.port })
    // The liar's handshake succeeds.
    await expect.poll(() => liar.wireguard.peers()[0]!.receivedBytes).toBeGreaterThan(0)
    expect(await liar.isUnheard()).toBe(true)
    const honest = await join({ ...shed, hubPort: hub.vpn.port })
    expect(await honest.isUnheard()).toBe(false)
    honest.stack.listen({ port: 8080 }, (stream) => void stream.destroy())
    await liar.stop()
    const other = await join({ ...barn, hubPort: hub.vpn.port })
    await beat(other)
    await expect(other.stack.ping(barn.hubVpnIp)).resolves.toBeGreaterThanOrEqual(0)
    await expect(other.stack.ping(shed.assignedIp, { timeoutMs: 500 })).rejects.toThrow('ETIMEDOUT')
  })

  it('carries others’ heartbeats while two gateways open connections that they never finish', async () => {
    const honest = await join({ ...(await enrolled('Honest')), hubPort: hub.vpn.port })
    for (const name of ['Barn', 'Shed']) {
      const gateway = await enrolled(name)
      const peer = await join({ ...gateway, hubPort: hub.vpn.port })
      await peer.stack.ping(hub.vpn.address)
      // It receives no answer, so it neither finishes nor ends a handshake.
      peer.stack.close()
      const deaf = createStack({ address: gateway.assignedIp, send: (packet) => peer.wireguard.send(packet) })
      stops.push(async () => deaf.close())
      const received = () => peer.wireguard.peers()[0]!.receivedBytes
      const before = received()
      for (let i = 0; i < 600; i++) deaf.connect({ host: hub.vpn.address, port: 8080 }).on('error', () => {})
      await vi.waitFor(() => expect(received() - before, 'each is answered').toBeGreaterThan(600 * 80), {
        timeout: 30_000,
      })
    }
    for (let i = 0; i < 3; i++) expect((await beat(honest)).status).toBe(200)
  })

  it('uses the new key as soon as a key change is approved', async () => {
    const barn = await enrolled()
    const old = await join({ ...barn, hubPort: hub.vpn.port })
    await beat(old)
    const renewed = createTestDevice(hub.app, {
      identity: barn.device.identity,
      deviceToken: barn.device.deviceToken,
      now: hub.clock.now,
    })
    const { registrationId } = (await renewed.register()).body
    expect((await beat(old)).status, 'the old key works until then').toBe(200)
    await approve(registrationId)
    const unheard = old.isUnheard()
    const nonce = randomBytes(32).toString('base64')
    const approved = (await renewed.status(registrationId, { nonce })).body as unknown as ApprovedRegistration
    const presharedKey = renewed.presharedKey(approved, nonce)!
    const fresh = await join({ ...approved, privateKey: renewed.privateKey, presharedKey, hubPort: hub.vpn.port })
    expect((await beat(fresh)).status).toBe(200)
    expect(await list()).toHaveLength(1)
    expect(await unheard).toBe(true)
  })

  it('stores detections before it answers', async () => {
    const barn = await enrolled()
    const peer = await join({ ...barn, hubPort: hub.vpn.port })
    const startedAt = new Date(hub.clock.now()).toISOString()
    const detection = { id: 'd1', camera: 'Front gate', label: 'person', severity: 'alert', score: 0.9, startedAt }
    const { status, body } = await peer.post('/api/v1/gateway/detections', { detections: [detection] })
    expect({ status, body }).toEqual({ status: 200, body: { accepted: 1 } })
    expect(await hub.db.selectFrom('detections').select(['gateway_id', 'id']).execute()).toEqual([
      { gateway_id: barn.gatewayId, id: 'd1' },
    ])
  })

  it('reaches a plain-WireGuard device, and deletes its private key at the first handshake', async () => {
    const url = '/api/v1/hub/gateways'
    const { id } = (
      await hub.app.inject({ method: 'POST', url, headers: await headers(), payload: { name: 'Router' } })
    ).json()
    const configUrl = `${url}/${id}/vpn-config`
    const config = async (): Promise<string> =>
      (await hub.app.inject({ method: 'GET', url: configUrl, headers: await headers() })).json().config
    const text = await config()
    const value = (name: string) => new RegExp(`^${name} = (.*)$`, 'm').exec(text)?.[1] ?? ''
    const peer = await join({
      assignedIp: value('Address').replace('/24', ''),
      hubVpnIp: hub.vpn.address,
      privateKey: value('PrivateKey'),
      presharedKey: value('PresharedKey'),
      hubPublicKey: value('PublicKey'),
      hubPort: Number(value('Endpoint').split(':').at(-1)),
    })
    const server = createServer((_request, response) => response.end('hello from the device'))
    peer.stack.listen({ port: 8080 }, (stream) => server.emit('connection', stream))
    await peer.stack.ping(hub.vpn.address)
    expect((await list())[0]).toMatchObject({
      status: 'warning',
      statusReason: expect.stringContaining('VPN handshake'),
    })

    const page = await new Promise<string>((resolve, reject) => {
      const stream = hub.vpn.dial(value('Address').replace('/24', ''), 8080)
      stream.on('error', reject)
      stream.on('data', (chunk: Buffer) => resolve(chunk.toString()))
      stream.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    })
    expect(page).toContain('hello from the device')
    await vi.waitFor(async () => expect(await config()).toContain('PrivateKey = <kept on the gateway>'), {
      timeout: 30_000,
    })
    const row = await hub.db.selectFrom('gateways').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ private_key: null, endpoint_address: '127.0.0.1', endpoint_port: peer.wireguard.port })
  })
})
