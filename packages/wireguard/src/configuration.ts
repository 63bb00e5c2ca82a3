/** A peer's configuration: checked completely before anything changes, then applied to the device. */

import type { Prefix } from './address.ts'
import { parseAddress, parsePrefix } from './address.ts'
import { ConfigError } from './config-error.ts'
import { NEVER } from './constants.ts'
import { cookieKeyOf, mac1KeyOf } from './cookie.ts'
import { equalBytes } from './crypto.ts'
import type { DeviceState } from './device-state.ts'
import type { PresharedKey, PublicKey } from './keys.ts'
import { isLowOrder, KEY_BYTES, keyBytes, parsePresharedKey, parsePublicKey } from './keys.ts'
import type { Endpoint } from './outputs.ts'
import type { Peer } from './peer.ts'
import { createPeer } from './peer.ts'
import { isLater } from './tai64n.ts'

/** §5.2: a peer without a preshared key has one of zeros. */
const NO_PRESHARED_KEY = new Uint8Array(KEY_BYTES)
const MAX_PORT = 65_535
const TIMESTAMP = /^[0-9a-f]{24}$/
const MAX_KEEPALIVE_SECONDS = 65_535

export type PeerConfig = {
  publicKey: PublicKey
  presharedKey?: PresharedKey
  /** CIDR prefixes, IPv4 or IPv6. A prefix that another peer has moves here. */
  allowedIps: readonly string[]
  /** An IP address, not a name. Absent: the device waits for the peer, or keeps the known endpoint. */
  endpoint?: Endpoint
  /** 1 to 65,535; 0 or absent is off. */
  persistentKeepaliveSeconds?: number
  /**
   * From `PeerStatus` before a restart: initiations up to it are refused as replayed. One that is earlier than the
   * known one is ignored.
   */
  latestTimestamp?: string
}

/** Bytes of whole authenticated datagrams of every kind, as `wg show` counts. */
export type PeerTraffic = { receivedBytes: number; sentBytes: number }

/** The values that `wg show` prints for a peer. */
export type PeerStatus = PeerTraffic & {
  publicKey: PublicKey
  endpoint?: Endpoint
  /** Wall clock, Unix milliseconds. */
  latestHandshakeAtMs?: number
  /** 0 is off. */
  persistentKeepaliveSeconds: number
  hasPresharedKey: boolean
  /** The greatest TAI64N of its initiations, 24 hexadecimal digits; absent before the first. */
  latestTimestamp?: string
  /** Canonical prefixes, in the order they were given. */
  allowedIps: string[]
}

/** A configuration whose every part is valid. `presharedKey` is 32 zero bytes where there is none (§5.2). */
export type CheckedConfig = {
  publicKey: PublicKey
  presharedKey: Uint8Array
  prefixes: Prefix[]
  endpoint: Endpoint | undefined
  persistentKeepaliveMs: number
  latestTimestamp: Uint8Array | undefined
}

export function checkConfig(config: PeerConfig, ownPublicKey: PublicKey): CheckedConfig {
  const { publicKey, presharedKey, endpoint, persistentKeepaliveSeconds = 0 } = config
  if (parsePublicKey(publicKey) === undefined) throw invalidKey('the public key')
  if (publicKey === ownPublicKey) throw new ConfigError('own-key', 'a device cannot be its own peer')
  if (presharedKey !== undefined && parsePresharedKey(presharedKey) === undefined) throw invalidKey('the preshared key')
  return {
    publicKey,
    prefixes: config.allowedIps.map(checkPrefix),
    endpoint: endpoint === undefined ? undefined : checkEndpoint(endpoint),
    persistentKeepaliveMs: checkKeepalive(persistentKeepaliveSeconds) * 1000,
    latestTimestamp: config.latestTimestamp === undefined ? undefined : checkTimestamp(config.latestTimestamp),
    // Last, after all checks: a copy of a secret that must be zeroed.
    presharedKey: presharedKey === undefined ? new Uint8Array(KEY_BYTES) : keyBytes(presharedKey),
  }
}

/** The part of a peer that follows from its public key. Throws `invalid-key` on a low-order point. */
export function createPeerOf(state: DeviceState, { publicKey, presharedKey }: CheckedConfig): Peer {
  const publicKeyBytes = keyBytes(publicKey)
  if (isLowOrder(publicKeyBytes)) {
    presharedKey.fill(0)
    throw invalidKey('a public key of low order')
  }
  const mac1Key = mac1KeyOf(state.crypto, publicKeyBytes)
  const cookieKey = cookieKeyOf(state.crypto, publicKeyBytes)
  return createPeer({ publicKey, publicKeyBytes, presharedKey, mac1Key, cookieKey })
}

/**
 * Everything but the keys. A keepalive that was turned on or changed is due at once, which starts the first handshake.
 */
export function configurePeer(state: DeviceState, peer: Peer, config: CheckedConfig): void {
  state.allowedIps.removeOwner(peer)
  for (const prefix of config.prefixes) state.allowedIps.insert(prefix, peer)
  peer.endpoint = config.endpoint ?? peer.endpoint
  const { latestTimestamp } = config
  if (latestTimestamp !== undefined && isLater(latestTimestamp, peer.latestTimestamp))
    peer.latestTimestamp = latestTimestamp
  if (config.persistentKeepaliveMs === peer.persistentKeepaliveMs) return
  peer.persistentKeepaliveMs = config.persistentKeepaliveMs
  peer.persistentAtMs = config.persistentKeepaliveMs === 0 ? NEVER : 0
  if (peer.persistentAtMs === 0) state.deadlines.bring(peer, 0)
}

export function statusOf(state: DeviceState, peer: Peer): PeerStatus {
  const { publicKey, endpoint, latestHandshakeAtMs, latestTimestamp, receivedBytes, sentBytes } = peer
  return {
    publicKey,
    ...(endpoint === undefined ? {} : { endpoint: { ...endpoint } }),
    ...(latestHandshakeAtMs === undefined ? {} : { latestHandshakeAtMs }),
    ...(latestTimestamp.some((byte) => byte !== 0) ? { latestTimestamp: latestTimestamp.toHex() } : {}),
    receivedBytes,
    sentBytes,
    persistentKeepaliveSeconds: peer.persistentKeepaliveMs / 1000,
    hasPresharedKey: !equalBytes(peer.presharedKey, NO_PRESHARED_KEY),
    allowedIps: state.allowedIps.prefixesOf(peer),
  }
}

/** The key itself stays out of the message. */
export function invalidKey(what: string): ConfigError {
  return new ConfigError('invalid-key', `${what} is not valid`)
}

function checkPrefix(text: string): Prefix {
  const prefix = parsePrefix(text)
  if (prefix === undefined)
    throw new ConfigError('invalid-allowed-ip', `not an IP address or prefix: ${JSON.stringify(text)}`)
  return prefix
}

function checkEndpoint({ address, port }: Endpoint): Endpoint {
  if (parseAddress(address) === undefined) {
    throw new ConfigError('invalid-endpoint', `not an IP address: ${JSON.stringify(address)}`)
  }
  if (!Number.isInteger(port) || port < 1 || port > MAX_PORT)
    throw new ConfigError('invalid-endpoint', `not a UDP port: ${port}`)
  return { address, port }
}

function checkTimestamp(text: string): Uint8Array {
  if (!TIMESTAMP.test(text))
    throw new ConfigError('invalid-timestamp', `not a TAI64N of 24 hexadecimal digits: ${text}`)
  return Uint8Array.fromHex(text)
}

function checkKeepalive(seconds: number): number {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > MAX_KEEPALIVE_SECONDS) {
    throw new ConfigError('invalid-keepalive', `not a keepalive of 0 to ${MAX_KEEPALIVE_SECONDS} seconds: ${seconds}`)
  }
  return seconds
}
