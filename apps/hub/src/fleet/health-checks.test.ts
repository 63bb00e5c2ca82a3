import { createServer, type RequestListener } from 'node:http'
import { generateKeyPair, generatePresharedKey } from '@hedgerow/wireguard/node'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Database } from '../database/database.ts'
import { openTestDatabase } from '#testing/databases.ts'
import { openVpn } from '../tunnel/open-tunnel.ts'
import { createPeers, type Peers } from '../tunnel/peers.ts'
import { joinTunnel, type TestPeer } from '#testing/peer.ts'
import type { Vpn } from '../tunnel/tunnel.ts'
import { createHealthChecks, type HealthChecks } from './health-checks.ts'
import { createFleet } from './snapshot.ts'
import { insertTestGateway } from '#testing/gateway.ts'

const log = pino({ level: 'silent' })

describe('the health of a plain-WireGuard gateway', () => {
  let database: Database
  let vpn: Vpn
  let peers: Peers
  let checks: HealthChecks
  let device: TestPeer
  let id: string
  let offsetMs = 0
  let answers = 0

  beforeEach(async () => {
    offsetMs = 0
    const clock = () => Date.now() + offsetMs
    const { privateKey } = generateKeyPair()
    const keys = generateKeyPair()
    const presharedKey = generatePresharedKey()
    const address = '10.100.0.2'
    database = await openTestDatabase('sqlite')
    const config = { backend: 'embedded' as const, port: 0, endpointHost: undefined, offload: true }
    vpn = await openVpn({ config, privateKey, networkCidr: '10.100.0.0/16', enabled: true, clock })
    peers = createPeers({ db: database.db, vpn, log })
    checks = createHealthChecks({ fleet: createFleet(database.db), vpn, clock, handshakes: peers.handshakes, log })
    id = await insertTestGateway(database.db, {
      kind: 'wireguard',
      wireguard_public_key: keys.publicKey,
      preshared_key: presharedKey,
      address,
    })
    await peers.reconcile()
    device = await joinTunnel({
      ...keys,
      presharedKey,
      assignedIp: address,
      hubVpnIp: vpn.address,
      hubPublicKey: vpn.publicKey,
      hubPort: vpn.port,
    })
  })
  afterEach(async () => {
    await checks.stop()
    await device.stop()
    await vpn.stop()
    await database.close()
  })

  const answerWith = (listener: RequestListener) => {
    const server = createServer((request, response) => {
      answers++
      listener(request, response)
    })
    device.stack.listen({ port: 8080 }, (stream) => server.emit('connection', stream))
  }

  it('is not checked before there is a tunnel', async () => {
    await device.stop()
    await checks.check()
    expect(checks.isHealthy(id)).toBeUndefined()
  })

  it('is good when /api/health answers through the tunnel, and is checked again after 30 s', async () => {
    const asked: (string | undefined)[] = []
    answerWith((request, response) => {
      asked.push(request.url)
      response.writeHead(asked.length === 1 ? 200 : 500).end()
    })
    await device.stack.ping(vpn.address)
    await checks.check()
    await checks.check()
    expect([checks.isHealthy(id), asked]).toEqual([true, ['/api/health']])
    offsetMs += 30_000
    await checks.check()
    expect([checks.isHealthy(id), asked.length]).toEqual([false, 2])
  })

  it('is bad when the device switches protocols', async () => {
    device.stack.listen({ port: 8080 }, (stream) => {
      stream.on('error', () => {})
      stream.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    })
    await device.stack.ping(vpn.address)
    await checks.check()
    expect(checks.isHealthy(id)).toBe(false)
  })

  it('is checked while another, silent one is pending, and neither delays the stop', async () => {
    answerWith((_request, response) => void response.end())
    const keys = generateKeyPair()
    const presharedKey = generatePresharedKey()
    const silentId = await insertTestGateway(database.db, {
      kind: 'wireguard',
      wireguard_public_key: keys.publicKey,
      preshared_key: presharedKey,
      address: '10.100.0.3',
    })
    await peers.reconcile()
    const silent = await joinTunnel({
      ...keys,
      presharedKey,
      assignedIp: '10.100.0.3',
      hubVpnIp: vpn.address,
      hubPublicKey: vpn.publicKey,
      hubPort: vpn.port,
    })
    const silence = Promise.withResolvers<void>()
    let isMute = false
    const server = createServer((_request, response) => (isMute ? silence.resolve() : response.writeHead(500).end()))
    silent.stack.listen({ port: 8080 }, (stream) => server.emit('connection', stream))
    await Promise.all([device.stack.ping(vpn.address), silent.stack.ping(vpn.address)])
    await checks.check()
    expect([checks.isHealthy(id), checks.isHealthy(silentId)]).toEqual([true, false])
    isMute = true
    offsetMs += 30_000
    answers = 0
    const asking = [checks.check()]
    await silence.promise
    offsetMs += 30_000
    await vi.waitFor(
      () => {
        asking.push(checks.check())
        expect(answers).toBe(2)
      },
      { timeout: 4_000 },
    )
    await checks.stop()
    await Promise.all(asking)
    await silent.stop()
  })

  it('is bad when nothing listens there', async () => {
    await device.stack.ping(vpn.address)
    await checks.check()
    expect(checks.isHealthy(id)).toBe(false)
  })
})
