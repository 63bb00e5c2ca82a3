/**
 * One WireGuard interface without I/O: keys, peers, and the calls that turn datagrams into packets and back. It reads
 * no clock and no randomness, holds no socket and no timer. The caller performs each `Output` in order, and calls
 * `tick` at `nextDeadline`. Network input never throws; a bad configuration does, as a ConfigError, before anything
 * changed.
 */

import { createAllowedIps } from './allowed-ips.ts'
import { ConfigError } from './config-error.ts'
import type { PeerConfig, PeerStatus, PeerTraffic } from './configuration.ts'
import { checkConfig, configurePeer, createPeerOf, invalidKey, statusOf } from './configuration.ts'
import { DEFAULT_MTU } from './constants.ts'
import { createCookieMaker, mac1KeyOf } from './cookie.ts'
import type { Crypto } from './crypto.ts'
import { equalBytes } from './crypto.ts'
import { createDeadlines } from './deadlines.ts'
import type { DeviceState, Turn } from './device-state.ts'
import { scheduleHandshake } from './initiate.ts'
import type { DropCounts } from './drops.ts'
import { noDrops } from './drops.ts'
import type { PrivateKey, PublicKey } from './keys.ts'
import { encodePublicKey, keyBytes, parsePrivateKey } from './keys.ts'
import { DEFAULT_HANDSHAKES_PER_SECOND, createLoadGauge } from './load.ts'
import type { Endpoint, Now, Output } from './outputs.ts'
import { erasePeer, erasePeerKeys } from './peer.ts'
import { receiveDatagram } from './receive.ts'
import type { Slab } from './slab.ts'
import { createSlab } from './slab.ts'
import { createTimestamps } from './tai64n.ts'
import { tickDevice } from './tick.ts'
import { sendPacket } from './transmit.ts'

export type DeviceOptions = {
  privateKey: PrivateKey
  crypto: Crypto
  /** The largest inner packet in bytes, where padding stops; 1420 by default. */
  mtu?: number
  /** Handshake messages a second above which cookies are asked for. */
  handshakesPerSecond?: number
  /** Memory of transport messages. Its owner may `reuse` it when it has copied every datagram so far. */
  slab?: Slab
}

export type Device = {
  publicKey: PublicKey
  /** One UDP payload, which the device owns from then on: the packet inside is decrypted in place. */
  receive(datagram: Uint8Array, from: Endpoint, now: Now): Output[]
  /** One whole IP packet, which is copied if it must wait for a handshake. */
  send(packet: Uint8Array, now: Now): Output[]
  /** To be called when `nextDeadline` has come; earlier or later is harmless. */
  tick(now: Now): Output[]
  /**
   * Monotonic milliseconds, perhaps in the past when work is left over; undefined when nothing is pending. Any other
   * call can change it.
   */
  nextDeadline(): number | undefined
  /** Throws `peer-exists` when the key is already a peer. With a keepalive, the next tick starts a handshake. */
  addPeer(config: PeerConfig): void
  /** Adds the peer, or replaces its configuration. Live sessions stay unless the preshared key changed. */
  updatePeer(config: PeerConfig): void
  /** Silent from this call on, its keys zeroed. Unknown keys are ignored. */
  removePeer(publicKey: PublicKey): void
  /**
   * Starts a handshake at the next tick, if the peer's endpoint is known; 5 s after the last message of one, if that
   * was sent less long ago.
   */
  handshake(publicKey: PublicKey, now: Now): void
  peer(publicKey: PublicKey): PeerStatus | undefined
  peers(): PeerStatus[]
  /** The traffic of every peer; much faster than `peers()`. */
  traffic(): Map<PublicKey, PeerTraffic>
  /** Every drop since the device was made, by reason; a copy. */
  drops(): DropCounts
  /** Removes every peer and zeroes the private key. The device drops everything afterwards. */
  close(): void
}

export function createDevice(options: DeviceOptions): Device {
  const { crypto } = options
  if (parsePrivateKey(options.privateKey) === undefined) throw invalidKey('the private key')
  const privateKey = keyBytes(options.privateKey)
  const local = { privateKey, publicKey: crypto.publicKeyOf(privateKey) }
  const state: DeviceState = {
    crypto,
    local,
    mac1Key: mac1KeyOf(crypto, local.publicKey),
    mtu: options.mtu ?? DEFAULT_MTU,
    peers: new Map(),
    indices: new Map(),
    allowedIps: createAllowedIps(),
    deadlines: createDeadlines(),
    cookies: createCookieMaker(crypto, local.publicKey),
    load: createLoadGauge(options.handshakesPerSecond ?? DEFAULT_HANDSHAKES_PER_SECOND),
    slab: options.slab ?? createSlab(),
    nextTimestamp: createTimestamps(),
  }
  const publicKey = encodePublicKey(local.publicKey)
  const drops = noDrops()

  function turnAt(now: Now): Turn {
    return { nowMs: now.monotonicMs, unixMs: now.unixMs, outputs: [], drops }
  }

  function receive(datagram: Uint8Array, from: Endpoint, now: Now): Output[] {
    const turn = turnAt(now)
    receiveDatagram(state, datagram, from, turn)
    return turn.outputs
  }

  function send(packet: Uint8Array, now: Now): Output[] {
    const turn = turnAt(now)
    sendPacket(state, packet, turn)
    return turn.outputs
  }

  function tick(now: Now): Output[] {
    const turn = turnAt(now)
    tickDevice(state, turn)
    return turn.outputs
  }

  function addPeer(config: PeerConfig): void {
    if (state.peers.has(config.publicKey)) throw new ConfigError('peer-exists', `${config.publicKey} is already a peer`)
    updatePeer(config)
  }

  function updatePeer(config: PeerConfig): void {
    const checked = checkConfig(config, publicKey)
    let peer = state.peers.get(checked.publicKey)
    if (peer === undefined) {
      peer = createPeerOf(state, checked)
      state.peers.set(checked.publicKey, peer)
    } else {
      if (!equalBytes(peer.presharedKey, checked.presharedKey)) erasePeerKeys(state.indices, peer)
      peer.presharedKey.fill(0)
      peer.presharedKey = checked.presharedKey
    }
    configurePeer(state, peer, checked)
  }

  function removePeer(key: PublicKey): void {
    const peer = state.peers.get(key)
    if (peer === undefined) return
    state.peers.delete(key)
    state.allowedIps.removeOwner(peer)
    state.deadlines.remove(peer)
    erasePeer(state.indices, peer)
  }

  function handshake(key: PublicKey, now: Now): void {
    const peer = state.peers.get(key)
    if (peer?.endpoint !== undefined) scheduleHandshake(state, peer, now.monotonicMs)
  }

  function close(): void {
    for (const key of state.peers.keys()) removePeer(key)
    state.cookies.erase()
    crypto.erase(privateKey)
  }

  return {
    publicKey,
    receive,
    send,
    tick,
    nextDeadline: state.deadlines.earliest,
    addPeer,
    updatePeer,
    removePeer,
    handshake,
    peer(publicKey) {
      const peer = state.peers.get(publicKey)
      return peer && statusOf(state, peer)
    },
    peers: () => Array.from(state.peers.values(), (peer) => statusOf(state, peer)),
    traffic() {
      const traffic = new Map<PublicKey, PeerTraffic>()
      for (const [key, { receivedBytes, sentBytes }] of state.peers) traffic.set(key, { receivedBytes, sentBytes })
      return traffic
    },
    drops: () => ({ ...drops }),
    close,
  }
}
