/**
 * The fuzzer's target: a hub with one gateway, in memory, on a clock that only inputs move. Each kind of input passes
 * one more check: noise, a right mac1, a right AEAD in a handshake, a right AEAD of a live session; then packets to
 * send, and configurations. `run` throws when something happened that no input may cause.
 */

import { ConfigError } from '../src/config-error.ts'
import { mac1KeyOf, writeMacs } from '../src/cookie.ts'
import type { Crypto } from '../src/crypto.ts'
import type { Device } from '../src/device.ts'
import { createDevice } from '../src/device.ts'
import { keyBytes } from '../src/keys.ts'
import { nodeCrypto } from '../src/node/crypto.ts'
import { generateKeyPair } from '../src/node/keys.ts'
import type { Output } from '../src/outputs.ts'
import { ipv4Packet } from '../src/simulator/packet.ts'

export const KINDS = ['datagram', 'mac1', 'handshake', 'inner', 'packet', 'config', 'time'] as const
export type Kind = (typeof KINDS)[number]
export type Input = { kind: Kind; data: Uint8Array }

export type Target = { run(input: Input): void }

const GATEWAY = { address: '192.0.2.2', port: 40_000 }
const STRANGER = { address: '203.0.113.66', port: 666 }
const HUB = { address: '198.51.100.1', port: 51_820 }
const MAX_OUTPUTS = 200
const latin1 = new TextDecoder('latin1')

export function createTarget(): Target {
  /** While set, the gateway seals these bytes instead, up to their length. */
  let smuggled: Uint8Array | undefined
  const gatewayCrypto: Crypto = {
    ...nodeCrypto,
    seal(key, counter, plaintext, ad, out) {
      const changed = Uint8Array.from(plaintext)
      changed.set(smuggled?.subarray(0, changed.length) ?? [])
      nodeCrypto.seal(key, counter, changed, ad, out)
    },
  }
  const now = { monotonicMs: 1_000_000, unixMs: 1_700_000_000_000 }
  const hub = createDevice({ privateKey: generateKeyPair().privateKey, crypto: nodeCrypto })
  const gateway = createDevice({ privateKey: generateKeyPair().privateKey, crypto: gatewayCrypto })
  const hubMac1Key = mac1KeyOf(nodeCrypto, keyBytes(hub.publicKey))
  hub.addPeer({ publicKey: gateway.publicKey, allowedIps: ['10.0.0.2/32'] })
  gateway.addPeer({ publicKey: hub.publicKey, allowedIps: ['0.0.0.0/0', '::/0'], endpoint: HUB })

  function move(ms: number): void {
    now.monotonicMs += ms
    now.unixMs += ms
  }

  function datagramsOf(outputs: Output[]): Uint8Array[] {
    return outputs.flatMap((output) => (output.type === 'datagram' ? [output.data] : []))
  }

  /** Delivers datagrams until both are quiet. */
  function settle(outputs: Output[], device: Device = gateway): void {
    let onTheWay = datagramsOf(outputs)
    let [to, from] = device === gateway ? [hub, GATEWAY] : [gateway, HUB]
    for (let hops = 0; hops < 6 && onTheWay.length > 0; hops++) {
      onTheWay = onTheWay.flatMap((data) => datagramsOf(to.receive(data, from, now)))
      ;[to, from] = to === hub ? [gateway, HUB] : [hub, GATEWAY]
    }
  }

  /** A session as new as the clock allows. */
  function connect(): void {
    for (let tries = 0; tries < 5; tries++) {
      const outputs = gateway.send(ipv4Packet('10.0.0.2', '10.0.0.1', 60), now)
      const isConnected = outputs.some((output) => output.type === 'datagram' && output.data[0] === 4)
      settle(outputs)
      if (isConnected) return
      move(6_000)
      settle(gateway.tick(now))
    }
    throw new Error('no session comes about any more')
  }

  function expectOnly(outputs: Output[], ...allowed: Output['type'][]): void {
    if (outputs.length > MAX_OUTPUTS) throw new Error(`${outputs.length} outputs`)
    for (const { type } of outputs) if (!allowed.includes(type)) throw new Error(`an output of type ${type}`)
  }

  /** Input from a sender without our keys: dropped, at most answered with a cookie that is smaller than the input. */
  function receiveFromStranger(data: Uint8Array): void {
    const outputs = hub.receive(data, STRANGER, now)
    expectOnly(outputs, 'drop', 'datagram')
    if (outputs.filter(({ type }) => type === 'drop').length !== 1) throw new Error('not dropped')
    for (const answer of datagramsOf(outputs)) if (answer.length > data.length) throw new Error('amplified')
    if (hub.peers()[0]?.endpoint?.address === STRANGER.address) throw new Error('followed a stranger')
  }

  const run: Record<Kind, (data: Uint8Array) => void> = {
    datagram: receiveFromStranger,
    mac1(data) {
      if (data.length >= 32) {
        writeMacs(
          nodeCrypto,
          data,
          { mac1Key: hubMac1Key, cookieKey: hubMac1Key, sentMac1: undefined, cookie: undefined },
          0,
        )
      }
      receiveFromStranger(data)
    },
    handshake(data) {
      move(6_000)
      gateway.handshake(hub.publicKey, now)
      smuggled = data
      const initiations = datagramsOf(gateway.tick(now))
      smuggled = undefined
      for (const initiation of initiations) settle(hub.receive(initiation, GATEWAY, now), hub)
    },
    inner(data) {
      connect()
      const packet = ipv4Packet('10.0.0.2', '10.0.0.1', Math.max(20, data.length))
      smuggled = data
      const outputs = gateway.send(packet, now)
      smuggled = undefined
      for (const datagram of datagramsOf(outputs)) {
        const received = hub.receive(datagram, GATEWAY, now)
        expectOnly(received, 'drop', 'packet', 'datagram', 'handshake')
        for (const output of received) {
          if (output.type !== 'packet') continue
          if (output.data.subarray(12, 16).join('.') !== '10.0.0.2') throw new Error('a source that is not allowed')
        }
      }
    },
    packet(data) {
      const outputs = hub.send(data, now)
      expectOnly(outputs, 'drop', 'datagram')
    },
    config(data) {
      const text = latin1.decode(data)
      const publicKey = generateKeyPair().publicKey
      for (const config of [
        { publicKey, allowedIps: text.split('\n') },
        { publicKey, allowedIps: [], endpoint: { address: text, port: data.length } },
        { publicKey: text as typeof publicKey, allowedIps: [] },
      ]) {
        const before = hub.peers().length
        try {
          hub.addPeer(config)
          hub.removePeer(config.publicKey)
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error
        }
        if (hub.peers().length !== before) throw new Error('half a peer')
      }
      // Prefixes that moved to the removed peer come back.
      hub.updatePeer({ publicKey: gateway.publicKey, allowedIps: ['10.0.0.2/32'] })
    },
    time(data) {
      move(new DataView(Uint8Array.from([...data, 0, 0, 0]).buffer).getUint16(0) * 10)
      settle(hub.tick(now), hub)
      settle(gateway.tick(now))
    },
  }

  return {
    run({ kind, data }) {
      run[kind](Uint8Array.from(data))
      if (hub.peers().length !== 1) throw new Error('not one peer')
    },
  }
}

/** The first inputs: one good input of each kind, and the four messages by their lengths. */
export function seeds(): Input[] {
  const message = (type: number, length: number) => Uint8Array.from({ length }, (_, i) => (i === 0 ? type : 0))
  const messages = [message(1, 148), message(2, 92), message(3, 64), message(4, 32), message(4, 112)]
  const v6 = new Uint8Array(60)
  v6.set([0x60, 0, 0, 0, 0, 20])
  const texts = ['10.0.0.0/8\nfd00::1/64', '::ffff:192.0.2.1', '192.0.2.1', 'A'.repeat(43) + '=']
  return [
    ...messages.map((data): Input => ({ kind: 'datagram', data })),
    ...messages.slice(0, 2).map((data): Input => ({ kind: 'mac1', data })),
    { kind: 'handshake', data: new Uint8Array(32) },
    { kind: 'inner', data: ipv4Packet('10.0.0.2', '10.0.0.1', 61) },
    { kind: 'inner', data: v6 },
    { kind: 'packet', data: ipv4Packet('10.0.0.1', '10.0.0.2', 61) },
    { kind: 'packet', data: v6 },
    ...texts.map((text): Input => ({ kind: 'config', data: new TextEncoder().encode(text) })),
    { kind: 'time', data: Uint8Array.of(0, 100) },
    { kind: 'time', data: Uint8Array.of(60, 0) },
  ]
}
