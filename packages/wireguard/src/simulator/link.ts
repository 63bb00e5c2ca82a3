/**
 * Two devices and the network between them, for tests: one clock that only the test moves, and datagrams that only the
 * test delivers, loses, doubles or reorders. The cryptography is the real one, without jitter.
 */

import type { PeerConfig } from '../configuration.ts'
import type { Crypto } from '../crypto.ts'
import type { Device, DeviceOptions } from '../device.ts'
import { createDevice } from '../device.ts'
import { nodeCrypto } from '../node/crypto.ts'
import { generateKeyPair } from '../node/keys.ts'
import type { DropReason } from '../drops.ts'
import type { Endpoint, Output } from '../outputs.ts'
import { ipv4Packet } from './packet.ts'

export const START_UNIX_MS = 1_700_000_000_000

export type Datagram = { data: Uint8Array; from: Endpoint; to: Endpoint }

export type Side = {
  device: Device
  endpoint: Endpoint
  packets: Uint8Array[]
  drops: DropReason[]
  handshakes: number
  /** Everything sent, with its time. */
  sent: { atMs: number; data: Uint8Array }[]
}

/** Types of the messages that a side sent, in order: 1 initiation, 2 response, 3 cookie reply, 4 transport. */
export const sentTypes = (side: Side) => side.sent.map(({ data }) => data[0])

/** From the gateway to the hub. */
export const upPacket = (length = 60) => ipv4Packet('10.0.0.2', '10.0.0.1', length)
/** From the hub to the gateway. */
export const downPacket = (length = 60) => ipv4Packet('10.0.0.1', '10.0.0.2', length)

export type Link = ReturnType<typeof createLink>

/** The gateway knows where the hub is; the hub waits for it. */
export function createLink({
  hub: hubConfig = {},
  gateway: gatewayConfig = {},
  hubOptions = {},
  gatewayOptions = {},
}: {
  hub?: Partial<PeerConfig>
  gateway?: Partial<PeerConfig>
  hubOptions?: Partial<DeviceOptions>
  gatewayOptions?: Partial<DeviceOptions>
} = {}) {
  const now = { monotonicMs: 1_000_000, unixMs: START_UNIX_MS }
  const wire: Datagram[] = []
  const hub = createSide({ address: '198.51.100.1', port: 51_820 }, hubOptions)
  const gateway = createSide({ address: '192.0.2.2', port: 40_000 }, gatewayOptions)
  hub.device.addPeer({ publicKey: gateway.device.publicKey, allowedIps: ['10.0.0.2/32'], ...hubConfig })
  gateway.device.addPeer({
    publicKey: hub.device.publicKey,
    allowedIps: ['10.0.0.1/32'],
    endpoint: hub.endpoint,
    ...gatewayConfig,
  })

  function perform(side: Side, outputs: Output[]): Output[] {
    for (const output of outputs) {
      if (output.type === 'packet') side.packets.push(output.data)
      else if (output.type === 'drop') side.drops.push(output.reason)
      else if (output.type === 'handshake') side.handshakes++
      else {
        side.sent.push({ atMs: now.monotonicMs, data: output.data })
        wire.push({ data: output.data, from: side.endpoint, to: output.to })
      }
    }
    return outputs
  }

  const send = (side: Side, packet: Uint8Array) => perform(side, side.device.send(packet, now))
  /** Each delivery is a copy of its own, as a socket's are, so a datagram can arrive twice. */
  const receive = (side: Side, data: Uint8Array, from: Endpoint) =>
    perform(side, side.device.receive(new Uint8Array(data), from, now))
  const tick = (side: Side) => perform(side, side.device.tick(now))

  /** Delivers one datagram to the side that has its address; to nobody otherwise. */
  function deliver({ data, from, to }: Datagram): void {
    for (const side of [hub, gateway]) {
      if (side.endpoint.address === to.address && side.endpoint.port === to.port) receive(side, data, from)
    }
  }

  /** Delivers until nothing is under way. `isLost` decides on each datagram. */
  function settle(isLost: (datagram: Datagram) => boolean = () => false): void {
    for (let datagram = wire.shift(); datagram !== undefined; datagram = wire.shift()) {
      if (!isLost(datagram)) deliver(datagram)
    }
  }

  /** Lets time pass, ticking each side at its deadlines. */
  function advance(ms: number, isLost?: (datagram: Datagram) => boolean): void {
    const endMs = now.monotonicMs + ms
    settle(isLost)
    for (;;) {
      const deadlines = [hub, gateway].map((side) => side.device.nextDeadline() ?? Infinity)
      const nextMs = Math.max(Math.min(...deadlines), now.monotonicMs)
      if (nextMs > endMs) break
      moveTo(nextMs)
      tick(hub)
      tick(gateway)
      settle(isLost)
    }
    moveTo(endMs)
  }

  function moveTo(monotonicMs: number): void {
    now.unixMs += monotonicMs - now.monotonicMs
    now.monotonicMs = monotonicMs
  }

  /** A confirmed session that the gateway began. Clears what was recorded. */
  function connect(): void {
    send(gateway, upPacket())
    settle()
    forget()
  }

  function forget(): void {
    for (const side of [hub, gateway]) {
      side.packets.length = 0
      side.drops.length = 0
      side.sent.length = 0
      side.handshakes = 0
    }
  }

  return { now, wire, hub, gateway, send, receive, tick, deliver, settle, advance, moveTo, connect, forget }
}

export const loseAll = () => true

function createSide(endpoint: Endpoint, options: Partial<DeviceOptions>): Side {
  const { privateKey } = generateKeyPair()
  const device = createDevice({ privateKey, crypto: withoutJitter, ...options })
  return { device, endpoint, packets: [], drops: [], handshakes: 0, sent: [] }
}

/** One random byte is a jitter; as zero it leaves the times of the paper exact. */
export const withoutJitter: Crypto = {
  ...nodeCrypto,
  random: (length) => (length === 1 ? Uint8Array.of(0) : nodeCrypto.random(length)),
}
