import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { ConfigError } from '../config-error.ts'
import type { PublicKey } from '../keys.ts'
import type { DropReason } from '../drops.ts'
import { ipv4Packet } from '../simulator/packet.ts'
import type { InterfaceOptions, WireGuardInterface } from './interface.ts'
import { openInterface } from './interface.ts'
import { generateKeyPair, generatePresharedKey } from './keys.ts'

const open: WireGuardInterface[] = []
const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000 })

afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(open.splice(0).map((wireguard) => wireguard.close()))
})

type Side = {
  wireguard: WireGuardInterface
  packets: { packet: Uint8Array; peer: PublicKey }[]
  handshakes: PublicKey[]
  drops: DropReason[]
}

async function openSide(options: Partial<InterfaceOptions> = {}): Promise<Side> {
  const packets: Side['packets'] = []
  const handshakes: PublicKey[] = []
  const drops: DropReason[] = []
  const wireguard = await openInterface({
    privateKey: generateKeyPair().privateKey,
    host: '127.0.0.1',
    onPacket: (packet, peer) => packets.push({ packet, peer }),
    onHandshake: (peer) => handshakes.push(peer),
    onDrop: (reason) => drops.push(reason),
    ...options,
  })
  open.push(wireguard)
  return { wireguard, packets, handshakes, drops }
}

const up = ipv4Packet('10.0.0.2', '10.0.0.1', 60)
const down = ipv4Packet('10.0.0.1', '10.0.0.2', 1420)

async function openPair(address = '127.0.0.1', options: Partial<InterfaceOptions> = {}): Promise<[Side, Side]> {
  const [hub, gateway] = [await openSide(options), await openSide(options)]
  const presharedKey = generatePresharedKey()
  hub.wireguard.addPeer({ publicKey: gateway.wireguard.publicKey, presharedKey, allowedIps: ['10.0.0.2/32'] })
  gateway.wireguard.addPeer({
    publicKey: hub.wireguard.publicKey,
    presharedKey,
    allowedIps: ['10.0.0.1/32'],
    endpoint: { address, port: hub.wireguard.port },
  })
  return [hub, gateway]
}

test('a packet sent before any handshake arrives as it was then, and the answer finds its way back', async () => {
  const [hub, gateway] = await openPair()
  const packet = up.slice()
  gateway.wireguard.send(packet)
  packet.fill(0)
  await until(() => expect(hub.packets).toHaveLength(1))
  expect(Buffer.from(hub.packets[0]?.packet ?? [])).toEqual(Buffer.from(up))
  expect(hub.packets[0]?.peer).toBe(gateway.wireguard.publicKey)

  hub.wireguard.send(down)
  await until(() => expect(gateway.packets).toHaveLength(1))
  expect(Buffer.from(gateway.packets[0]?.packet ?? [])).toEqual(Buffer.from(down))
  expect(hub.handshakes).toEqual([gateway.wireguard.publicKey])
  expect(gateway.handshakes).toEqual([hub.wireguard.publicKey])
})

test('handshake() makes a session without data', async () => {
  const [hub, gateway] = await openPair()
  gateway.wireguard.handshake(hub.wireguard.publicKey)
  await until(() => expect(hub.handshakes).toHaveLength(1))
  const [status] = hub.wireguard.peers()
  expect(status?.endpoint).toEqual({ address: '127.0.0.1', port: gateway.wireguard.port })
  expect(Math.abs((status?.latestHandshakeAtMs ?? 0) - Date.now())).toBeLessThan(60_000)
})

test('a peer with a persistent keepalive connects by itself', async () => {
  const [hub, gateway] = await openPair()
  gateway.wireguard.updatePeer({
    publicKey: hub.wireguard.publicKey,
    allowedIps: ['10.0.0.1/32'],
    persistentKeepaliveSeconds: 25,
  })
  hub.wireguard.updatePeer({ publicKey: gateway.wireguard.publicKey, allowedIps: ['10.0.0.2/32'] })
  await until(() => expect(hub.handshakes).toHaveLength(1))
})

test('a removed peer is silent at once', async () => {
  const [hub, gateway] = await openPair()
  gateway.wireguard.send(up)
  await until(() => expect(hub.packets).toHaveLength(1))
  hub.wireguard.removePeer(gateway.wireguard.publicKey)
  gateway.wireguard.send(up)
  await until(() => expect(hub.drops).toContain('unknown-index'))
  expect(hub.packets).toHaveLength(1)
  hub.wireguard.send(down)
  expect(hub.drops).toContain('no-route')
  expect(hub.wireguard.peers()).toEqual([])
})

test('a dual-stack socket names an IPv4 peer by its IPv4 address', async () => {
  const [hub, gateway] = await openPair('127.0.0.1', { host: '::' })
  gateway.wireguard.send(up)
  await until(() => expect(hub.packets).toHaveLength(1))
  expect(hub.wireguard.peers()[0]?.endpoint?.address).toBe('127.0.0.1')
  hub.wireguard.send(down)
  await until(() => expect(gateway.packets).toHaveLength(1))
})

test('a peer that nobody listens for does not end the tunnel', async () => {
  const [hub, gateway] = await openPair()
  const closed = createSocket('udp4').bind(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address()
  closed.close()
  const absent = generateKeyPair().publicKey
  gateway.wireguard.addPeer({
    publicKey: absent,
    allowedIps: ['10.0.0.3/32'],
    endpoint: { address: '127.0.0.1', port },
  })
  gateway.wireguard.addPeer({
    publicKey: generateKeyPair().publicKey,
    allowedIps: ['10.0.0.4/32'],
    endpoint: { address: '::1', port },
  })
  gateway.wireguard.send(ipv4Packet('10.0.0.2', '10.0.0.3', 60))
  gateway.wireguard.send(ipv4Packet('10.0.0.2', '10.0.0.4', 60))
  gateway.wireguard.send(up)
  await until(() => expect(hub.packets).toHaveLength(1))
})

test('noise from strangers is dropped with its reason and the tunnel lives', async () => {
  const [hub, gateway] = await openPair()
  const stranger = createSocket('udp4')
  for (const size of [0, 1, 4, 31, 64, 92, 148, 1500, 65_507])
    stranger.send(Buffer.alloc(size, 1), hub.wireguard.port, '127.0.0.1')
  await until(() => expect(hub.drops.length).toBeGreaterThanOrEqual(9))
  stranger.close()
  expect(hub.wireguard.drops()).toMatchObject({ malformed: 9, 'handshake-backlog': 0 })
  gateway.wireguard.send(up)
  await until(() => expect(hub.packets).toHaveLength(1))
})

/** A handshake message and, right behind it, so that both are read in one turn, noise. */
async function sendHandshakeAndNoise(port: number): Promise<void> {
  const stranger = createSocket('udp4')
  stranger.connect(port, '127.0.0.1')
  await once(stranger, 'connect')
  const initiation = Buffer.alloc(148)
  initiation[0] = 1
  stranger.send(initiation)
  stranger.send(Buffer.of(9))
  stranger.close()
}

test('a handshake message waits for the next turn; one that had to wait too long is refused and counted', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { wireguard, drops } = await openSide({
    onDrop(reason) {
      drops.push(reason)
      vi.advanceTimersByTime(3_000)
    },
  })
  await sendHandshakeAndNoise(wireguard.port)
  await until(() => expect(drops).toEqual(['malformed', 'handshake-backlog']))
  expect(wireguard.drops()).toMatchObject({ malformed: 1, 'bad-mac1': 0, 'handshake-backlog': 1 })
})

test('handshake messages that wait when the interface closes are forgotten', async () => {
  const closed = Promise.withResolvers<void>()
  const { wireguard, drops } = await openSide({
    onDrop(reason) {
      drops.push(reason)
      closed.resolve(wireguard.close())
    },
  })
  await sendHandshakeAndNoise(wireguard.port)
  await closed.promise
  for (let turns = 0; turns < 3; turns++) await nextTurn()
  expect(drops).toEqual(['malformed'])
})

test('closing from inside a callback is safe, and sending afterwards does nothing', async () => {
  const [hub, gateway] = await openPair()
  const closed = Promise.withResolvers<void>()
  const closing = await openSide({ onPacket: () => closed.resolve(closing.wireguard.close()) })
  closing.wireguard.addPeer({ publicKey: gateway.wireguard.publicKey, allowedIps: ['10.0.0.2/32'] })
  gateway.wireguard.removePeer(hub.wireguard.publicKey)
  gateway.wireguard.addPeer({
    publicKey: closing.wireguard.publicKey,
    allowedIps: ['10.0.0.1/32'],
    endpoint: { address: '127.0.0.1', port: closing.wireguard.port },
  })
  gateway.wireguard.send(up)
  await expect(closed.promise).resolves.toBeUndefined()
  closing.wireguard.send(down)
  await closing.wireguard.close()
})

test('peers and traffic can be read after closing, as they were', async () => {
  const [hub, gateway] = await openPair()
  const { publicKey } = gateway.wireguard
  gateway.wireguard.send(up)
  await until(() => expect(hub.packets).toHaveLength(1))
  const before = hub.wireguard.peer(publicKey)
  await hub.wireguard.close()
  expect(before?.receivedBytes).toBeGreaterThan(0)
  expect(hub.wireguard.peer(publicKey)).toEqual(before)
  expect(hub.wireguard.peers()).toEqual([before])
  expect(hub.wireguard.traffic().get(publicKey)).toMatchObject({ receivedBytes: before?.receivedBytes })
})

test('a port in use rejects with the reason of the system', async () => {
  const { wireguard } = await openSide()
  await expect(openSide({ port: wireguard.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('a configuration error is thrown with its code and changes nothing', async () => {
  const [hub, gateway] = await openPair()
  const { publicKey } = gateway.wireguard
  const attempt = (config: object) => () => hub.wireguard.addPeer({ publicKey, allowedIps: [], ...config })
  const other = generateKeyPair().publicKey
  const cases: [object, string][] = [
    [{}, 'peer-exists'],
    [{ publicKey: hub.wireguard.publicKey }, 'own-key'],
    [{ publicKey: 'x' }, 'invalid-key'],
    [{ publicKey: Buffer.alloc(32).toString('base64') }, 'invalid-key'],
    [{ publicKey: other, presharedKey: 'x' }, 'invalid-key'],
    [{ publicKey: other, allowedIps: ['10.0.0.1/33'] }, 'invalid-allowed-ip'],
    [{ publicKey: other, endpoint: { address: 'example.org', port: 1 } }, 'invalid-endpoint'],
    [{ publicKey: other, endpoint: { address: '10.0.0.1', port: 0 } }, 'invalid-endpoint'],
    [{ publicKey: other, persistentKeepaliveSeconds: 65_536 }, 'invalid-keepalive'],
  ]
  for (const [config, code] of cases) {
    expect(attempt(config)).toThrow(expect.objectContaining({ code }))
    expect(attempt(config)).toThrow(ConfigError)
  }
  expect(hub.wireguard.peers().map((peer) => peer.publicKey)).toEqual([publicKey])
})
