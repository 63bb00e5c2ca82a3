import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { generateKeyPair, generatePresharedKey } from '@hedgerow/wireguard/node'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Database } from '../database/database.ts'
import { openTestDatabase, testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { openVpn } from './open-tunnel.ts'
import { createPeers, type Peers } from './peers.ts'
import { joinTunnel, type TestPeer } from '#testing/peer.ts'
import type { Vpn } from './tunnel.ts'

const log = pino({ level: 'silent' })

describe.each(testEngines)('a hub that restarts on %s', (engine) => {
  const { privateKey } = generateKeyPair()
  let database: Database
  let vpn: Vpn
  let peers: Peers
  let device: TestPeer | undefined
  let drops: string[] = []

  async function start(port = 0): Promise<void> {
    const config = { backend: 'embedded' as const, port, endpointHost: undefined, offload: true }
    const settings = { networkCidr: '10.100.0.0/16', enabled: true }
    vpn = await openVpn({
      config,
      privateKey,
      ...settings,
      clock: Date.now,
      onDrop: (_layer, reason) => drops.push(reason),
    })
    peers = createPeers({ db: database.db, vpn, log })
    await peers.start()
  }
  async function stop(): Promise<void> {
    await peers.stop()
    await vpn.stop()
  }
  beforeEach(async () => {
    drops = []
    database = await openTestDatabase(engine)
    await start()
  })
  afterEach(async () => {
    await device?.stop()
    await stop()
    await database.close()
  })

  async function addGateway(): Promise<Parameters<typeof joinTunnel>[0] & { id: string; publicKey: string }> {
    const keys = generateKeyPair()
    const presharedKey = generatePresharedKey()
    const id = await insertTestGateway(database.db, {
      wireguard_public_key: keys.publicKey,
      preshared_key: presharedKey,
      address: '10.100.0.2',
    })
    await peers.reconcile()
    return {
      id,
      ...keys,
      presharedKey,
      assignedIp: '10.100.0.2',
      hubVpnIp: vpn.address,
      hubPublicKey: vpn.publicKey,
      hubPort: vpn.port,
    }
  }

  it('starts the handshake itself, to the gateway’s last endpoint', async () => {
    const gateway = await addGateway()
    device = await joinTunnel(gateway)
    await device.stack.ping(vpn.address)
    const { port } = device.wireguard
    await stop()
    await device.stop()

    device = await joinTunnel({ ...gateway, port, startsHandshakes: false })
    await start()
    await vi.waitFor(() => expect(peers.handshakes().has(gateway.publicKey)).toBe(true), { timeout: 30_000 })
    await expect(device.stack.ping(vpn.address)).resolves.toBeGreaterThanOrEqual(0)
  })

  it('does not answer an old recorded initiation, and answers a new one', async () => {
    const gateway = await addGateway()
    const recorded: Uint8Array[] = []
    const { port } = vpn
    const relay = createSocket('udp4')
    const device1 = { address: '', port: 0 }
    relay.on('message', (datagram, from) => {
      if (from.port === port) return relay.send(datagram, device1.port, device1.address)
      Object.assign(device1, { address: from.address, port: from.port })
      if (datagram[0] === 1) recorded.push(datagram)
      relay.send(datagram, port, '127.0.0.1')
    })
    relay.bind(0, '127.0.0.1')
    await once(relay, 'listening')
    device = await joinTunnel({ ...gateway, hubPort: relay.address().port })
    await device.stack.ping(vpn.address)
    relay.removeAllListeners('message')
    await device.stop()
    await stop()
    await start(port)

    const answers: number[] = []
    relay.on('message', (datagram) => answers.push(datagram[0]!))
    for (const datagram of recorded) relay.send(datagram, port, '127.0.0.1')
    await vi.waitFor(() => expect(drops.includes('replayed-initiation') || answers.includes(2)).toBe(true), {
      timeout: 30_000,
    })
    device = await joinTunnel({ ...gateway, hubPort: port })
    await device.stack.ping(vpn.address)
    expect(recorded.length).toBeGreaterThan(0)
    expect(answers.filter((type) => type === 2)).toEqual([])
    expect(drops).toContain('replayed-initiation')
    relay.close()
  })

  it('ignores a timestamp from far ahead, which would lock its device out for good', async () => {
    const gateway = await addGateway()
    const timestamp = '4000000100000000deadbe00'
    await database.db
      .insertInto('handshake_timestamps')
      .values({ wireguard_public_key: gateway.publicKey, timestamp })
      .execute()
    const { port } = vpn
    await stop()
    await start(port)
    device = await joinTunnel({ ...gateway, hubPort: port })
    await expect(device.stack.ping(vpn.address)).resolves.toBeGreaterThanOrEqual(0)
  })

  it('has stored a gateway’s endpoint soon after its handshake, even if it is killed then', async () => {
    const gateway = await addGateway()
    device = await joinTunnel(gateway)
    await device.stack.ping(vpn.address)
    const { port } = device.wireguard
    const endpoint = () =>
      database.db.selectFrom('gateways').select('endpoint_port').where('id', '=', gateway.id).executeTakeFirstOrThrow()
    await vi.waitFor(async () => expect((await endpoint()).endpoint_port).toBe(port), { timeout: 30_000 })
  })

  it('has every peer of the database again, and drops deleted ones', async () => {
    const gateway = await addGateway()
    const port = vpn.port
    await stop()
    await start(port)
    expect(vpn.peers().map((peer) => peer.publicKey)).toEqual([gateway.publicKey])
    await database.db.deleteFrom('gateways').where('id', '=', gateway.id).execute()
    await peers.reconcile()
    expect(vpn.peers()).toEqual([])
  })

  it('changes a peer whose preshared key or address changed in the database', async () => {
    const gateway = await addGateway()
    const presharedKey = generatePresharedKey()
    await database.db.updateTable('gateways').set({ preshared_key: presharedKey, address: '10.100.0.3' }).execute()
    await peers.reconcile()
    device = await joinTunnel({ ...gateway, presharedKey, assignedIp: '10.100.0.3' })
    await expect(device.stack.ping(vpn.address)).resolves.toBeGreaterThanOrEqual(0)
  })

  it('does not undo a change that came during the comparison', async () => {
    const gateway = await addGateway()
    const fresh = {
      publicKey: generateKeyPair().publicKey,
      presharedKey: generatePresharedKey(),
      address: '10.100.0.9',
    }
    const comparing = peers.reconcile()
    const gatewayId = await insertTestGateway(database.db, {
      wireguard_public_key: fresh.publicKey,
      preshared_key: fresh.presharedKey,
      address: fresh.address,
    })
    await peers.refresh({ gatewayId, formerPublicKey: undefined })
    await comparing
    expect(new Set(vpn.peers().map((peer) => peer.publicKey))).toEqual(new Set([gateway.publicKey, fresh.publicKey]))
  })

  it('keeps running when the database holds an invalid peer', async () => {
    const gateway = await addGateway()
    await insertTestGateway(database.db, { wireguard_public_key: 'not a key' })
    await expect(peers.reconcile()).resolves.toBeUndefined()
    expect(vpn.peers().map((peer) => peer.publicKey)).toEqual([gateway.publicKey])
  })
})

it('an invalid network in the settings stops the start', async () => {
  const config = { backend: 'embedded' as const, port: 0, endpointHost: undefined, offload: true }
  const { privateKey } = generateKeyPair()
  await expect(
    openVpn({ config, privateKey, networkCidr: '10.100.0.0/33', enabled: true, clock: Date.now }),
  ).rejects.toThrow('vpnNetwork')
})
