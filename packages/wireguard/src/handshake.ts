/**
 * The two handshake messages, made and read (§5.4.2, §5.4.3), and the resulting keys (§5.4.5). Pure: `receive.ts` and
 * `initiate.ts` handle peers and time. mac1 and mac2 are `cookie.ts`'s and stay zero here.
 *
 *   <- s ... -> e, es, s, ss, {timestamp} <- e, ee, se, psk, {}
 */

import type { Crypto, KeyPair } from './crypto.ts'
import { Initiation, MessageType, Response, readUint32, writeUint32 } from './messages.ts'
import type { SymmetricState } from './noise.ts'
import {
  copyState,
  eraseState,
  initialState,
  mixHash,
  mixKey,
  mixKeyForAead,
  mixPresharedKey,
  openAndMix,
  sealAndMix,
  split,
} from './noise.ts'

const EMPTY = new Uint8Array(0)

/** The other side's data for a handshake. `staticShared` is undefined before the first one. */
export type RemoteIdentity = {
  publicKeyBytes: Uint8Array
  staticShared: Uint8Array | undefined
  presharedKey: Uint8Array
}

/**
 * DH(own static, their static), calculated once per peer, at the first handshake: a device starts sooner with thousands
 * of peers. Undefined for a low-order point.
 */
export function staticSharedWith(crypto: Crypto, local: KeyPair, remote: RemoteIdentity): Uint8Array | undefined {
  return (remote.staticShared ??= crypto.dh(local.privateKey, remote.publicKeyBytes))
}

/** An initiation that waits for its response. Holds secrets until `eraseInitiation`. */
export type PendingInitiation = { localIndex: number; state: SymmetricState; ephemeralPrivate: Uint8Array }

/** An initiation received, before its response. */
export type ReceivedInitiation = {
  remoteIndex: number
  remoteEphemeral: Uint8Array
  remoteStatic: Uint8Array
  state: SymmetricState
}

export type TransportKeys = { sendKey: Uint8Array; receiveKey: Uint8Array }

/**
 * Undefined only if a fresh ephemeral key made an all-zero secret, which the peer's checked static key rules out in
 * practice.
 */
export function createInitiation(
  crypto: Crypto,
  local: KeyPair,
  remote: RemoteIdentity,
  { localIndex, timestamp }: { localIndex: number; timestamp: Uint8Array },
): { message: Uint8Array; pending: PendingInitiation } | undefined {
  const message = new Uint8Array(Initiation.size)
  message[0] = MessageType.initiation
  writeUint32(message, Initiation.sender, localIndex)
  const state = initialState(crypto, remote.publicKeyBytes)

  // -> e
  const ephemeral = crypto.generate()
  message.set(ephemeral.publicKey, Initiation.ephemeral)
  mixKey(crypto, state, ephemeral.publicKey)
  mixHash(crypto, state, ephemeral.publicKey)

  // -> es, s
  const es = crypto.dh(ephemeral.privateKey, remote.publicKeyBytes)
  const staticShared = staticSharedWith(crypto, local, remote)
  if (es === undefined || staticShared === undefined) {
    es?.fill(0)
    ephemeral.privateKey.fill(0)
    eraseState(state)
    return undefined
  }
  const staticField = message.subarray(Initiation.static, Initiation.timestamp)
  sealAndMix(crypto, state, { key: mixSecret(crypto, state, es), plaintext: local.publicKey, out: staticField })

  // -> ss, {timestamp}
  const key = mixKeyForAead(crypto, state, staticShared)
  const timestampField = message.subarray(Initiation.timestamp, Initiation.mac1)
  sealAndMix(crypto, state, { key, plaintext: timestamp, out: timestampField })

  return { message, pending: { localIndex, state, ephemeralPrivate: ephemeral.privateKey } }
}

/**
 * Reads the sender of an initiation: one DH. Undefined when it was not made for `local`. Proves nothing until
 * `openTimestamp`. The caller always erases `state`.
 */
export function openInitiation(crypto: Crypto, local: KeyPair, message: Uint8Array): ReceivedInitiation | undefined {
  const state = initialState(crypto, local.publicKey)

  // -> e
  const remoteEphemeral = new Uint8Array(message.subarray(Initiation.ephemeral, Initiation.static))
  mixKey(crypto, state, remoteEphemeral)
  mixHash(crypto, state, remoteEphemeral)

  // -> es, s
  const es = crypto.dh(local.privateKey, remoteEphemeral)
  const ciphertext = message.subarray(Initiation.static, Initiation.timestamp)
  const remoteStatic = es && openAndMix(crypto, state, { key: mixSecret(crypto, state, es), ciphertext })
  if (remoteStatic === undefined) {
    eraseState(state)
    return undefined
  }
  return { remoteIndex: readUint32(message, Initiation.sender), remoteEphemeral, remoteStatic, state }
}

/** Proves that the sender holds its static key, and returns its timestamp; undefined when it does not. */
export function openTimestamp(
  crypto: Crypto,
  received: ReceivedInitiation,
  staticShared: Uint8Array,
  message: Uint8Array,
): Uint8Array | undefined {
  // -> ss, {timestamp}
  const key = mixKeyForAead(crypto, received.state, staticShared)
  const ciphertext = message.subarray(Initiation.timestamp, Initiation.mac1)
  return openAndMix(crypto, received.state, { key, ciphertext })
}

/** Answers an initiation, which erases its state. Undefined when the initiator's points make an all-zero secret. */
export function createResponse(
  crypto: Crypto,
  received: ReceivedInitiation,
  remote: RemoteIdentity,
  localIndex: number,
): { message: Uint8Array; keys: TransportKeys } | undefined {
  const { state } = received
  const message = new Uint8Array(Response.size)
  message[0] = MessageType.response
  writeUint32(message, Response.sender, localIndex)
  writeUint32(message, Response.receiver, received.remoteIndex)

  // <- e
  const ephemeral = crypto.generate()
  message.set(ephemeral.publicKey, Response.ephemeral)
  mixKey(crypto, state, ephemeral.publicKey)
  mixHash(crypto, state, ephemeral.publicKey)

  // <- ee, se
  const ee = crypto.dh(ephemeral.privateKey, received.remoteEphemeral)
  const se = crypto.dh(ephemeral.privateKey, remote.publicKeyBytes)
  ephemeral.privateKey.fill(0)
  if (!mixBoth(crypto, state, ee, se)) return undefined

  // <- psk, {}
  const key = mixPresharedKey(crypto, state, remote.presharedKey)
  sealAndMix(crypto, state, { key, plaintext: EMPTY, out: message.subarray(Response.empty, Response.mac1) })

  const [receiveKey, sendKey] = split(crypto, state)
  return { message, keys: { sendKey, receiveKey } }
}

/**
 * Reads the answer to `pending`, which does not change when the answer is false (undefined), because the true one may
 * still arrive.
 */
export function openResponse(
  crypto: Crypto,
  local: KeyPair,
  pending: PendingInitiation,
  remote: RemoteIdentity,
  message: Uint8Array,
): { keys: TransportKeys; remoteIndex: number } | undefined {
  const state = copyState(pending.state)

  // <- e
  const remoteEphemeral = message.subarray(Response.ephemeral, Response.empty)
  mixKey(crypto, state, remoteEphemeral)
  mixHash(crypto, state, remoteEphemeral)

  // <- ee, se
  const ee = crypto.dh(pending.ephemeralPrivate, remoteEphemeral)
  const se = crypto.dh(local.privateKey, remoteEphemeral)
  if (!mixBoth(crypto, state, ee, se)) return undefined

  // <- psk, {}
  const key = mixPresharedKey(crypto, state, remote.presharedKey)
  const ciphertext = message.subarray(Response.empty, Response.mac1)
  if (openAndMix(crypto, state, { key, ciphertext }) === undefined) {
    eraseState(state)
    return undefined
  }

  const [sendKey, receiveKey] = split(crypto, state)
  return { keys: { sendKey, receiveKey }, remoteIndex: readUint32(message, Response.sender) }
}

export function eraseInitiation(pending: PendingInitiation): void {
  eraseState(pending.state)
  pending.ephemeralPrivate.fill(0)
}

/**
 * C = KDF1(C, ee), C = KDF1(C, se), after which both are gone. False, and the state gone too, where either was all
 * zero.
 */
function mixBoth(
  crypto: Crypto,
  state: SymmetricState,
  ee: Uint8Array | undefined,
  se: Uint8Array | undefined,
): boolean {
  const areBoth = ee !== undefined && se !== undefined
  if (areBoth) {
    mixKey(crypto, state, ee)
    mixKey(crypto, state, se)
  } else {
    eraseState(state)
  }
  ee?.fill(0)
  se?.fill(0)
  return areBoth
}

/** (C, key) = KDF2(C, secret), after which the secret is gone. */
function mixSecret(crypto: Crypto, state: SymmetricState, secret: Uint8Array): Uint8Array {
  const key = mixKeyForAead(crypto, state, secret)
  secret.fill(0)
  return key
}
