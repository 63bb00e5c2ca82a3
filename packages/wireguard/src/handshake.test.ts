import { expect, test } from 'vitest'
import { mac1KeyOf, writeMacs } from './cookie.ts'
import type { Crypto, KeyPair } from './crypto.ts'
import type { RemoteIdentity } from './handshake.ts'
import {
  createInitiation,
  createResponse,
  openInitiation,
  openResponse,
  openTimestamp,
  staticSharedWith,
} from './handshake.ts'
import { isLowOrder } from './keys.ts'
import { nodeCrypto } from './node/crypto.ts'
import { createSession, openTransport, sealTransport } from './session.ts'
import { createSlab } from './slab.ts'
import { createTimestamps } from './tai64n.ts'

/**
 * The vectors below were computed by a separate program (Python's hashlib and the `cryptography` package) written from
 * the paper alone: static keys 01.. and 02.., ephemeral keys 03.. and 04.., preshared key 05.. .
 */
const initiationHex =
  '01000000443322115dfedd3b6bd47f6fa28ee15d969d5bb0ea53774d488bdaf9df1c6e0124b3ef220a26599fb2188bb7' +
  '23276fc173af67616c817f' +
  'c32fd04d686d87ec152fac10eed2bda3bb3b6f1eded6977684082284d817fb46b3a99b6be3a0273ed6f169357ca2db0f' +
  'fb2b85638aa56792500f79d' +
  '6e9a8fed324037162b1c06b371f00000000000000000000000000000000'
const responseHex =
  '020000008877665544332211ac01b2209e86354fb853237b5de0f4fab13c7fcbf433a61c019369617fecf10bd5b6d2bb' +
  '0cf7064a18589ea8b2e075' +
  'a69afb054b2a5f958286a206bf0c5e0bd500000000000000000000000000000000'
const keepaliveHex = '040000008877665500000000000000002573d3030aabba0c616df8e5a1bab60b'
const dataHex =
  '04000000887766550100000000000000bff50fa9a91323557bbf37bffcf85217293a5f5af6044f0118b0fb2d59b44d4d' +
  'ad31168eb5b22b44d162c2' +
  'fbc6089ec8546f211717a9efc852b957d251e867d5'
const answerHex = '04000000443322110000000000000000debc5ce8db9dfbdcc00a210e42229c06'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const keyOf = (byte: number) => new Uint8Array(32).fill(byte)
const pairOf = (byte: number) => ({ privateKey: keyOf(byte), publicKey: nodeCrypto.publicKeyOf(keyOf(byte)) })
const withEphemeral = (byte: number): Crypto => ({ ...nodeCrypto, generate: () => pairOf(byte) })

const initiator = pairOf(1)
const responder = pairOf(2)

const identityOf = (other: KeyPair): RemoteIdentity => ({
  publicKeyBytes: other.publicKey,
  staticShared: undefined,
  presharedKey: keyOf(5),
})
const sharedOf = (own: KeyPair, remote: RemoteIdentity) => staticSharedWith(nodeCrypto, own, remote) ?? new Uint8Array()

function macced(message: Uint8Array, receiver: { publicKey: Uint8Array }): Uint8Array {
  const mac1Key = mac1KeyOf(nodeCrypto, receiver.publicKey)
  writeMacs(nodeCrypto, message, { mac1Key, cookieKey: keyOf(0), sentMac1: undefined, cookie: undefined }, 0)
  return message
}

function handshake() {
  const remote = identityOf(responder)
  const timestamp = createTimestamps()(1_700_000_000_487)
  const begun = createInitiation(withEphemeral(3), initiator, remote, { localIndex: 0x11223344, timestamp })
  if (begun === undefined) throw new Error('no initiation')
  macced(begun.message, responder)

  const received = openInitiation(nodeCrypto, responder, begun.message)
  if (received === undefined) throw new Error('initiation not opened')
  const local = identityOf(initiator)
  const openedTimestamp = openTimestamp(nodeCrypto, received, sharedOf(responder, local), begun.message)
  const answered = createResponse(withEphemeral(4), received, local, 0x55667788)
  if (answered === undefined) throw new Error('no response')
  macced(answered.message, initiator)
  return { remote, timestamp, begun, received, openedTimestamp, answered }
}

test('initiation and response are byte for byte those of the paper', () => {
  const { begun, answered } = handshake()
  expect(hex(begun.message)).toBe(initiationHex)
  expect(hex(answered.message)).toBe(responseHex)
})

test('the responder learns who calls and when', () => {
  const { received, openedTimestamp, timestamp } = handshake()
  expect(hex(received.remoteStatic)).toBe(hex(initiator.publicKey))
  expect(received.remoteIndex).toBe(0x11223344)
  expect(hex(openedTimestamp ?? new Uint8Array())).toBe(hex(timestamp))
})

test('the session that follows is byte for byte that of the paper, both ways', () => {
  const { remote, begun, answered } = handshake()
  const opened = openResponse(nodeCrypto, initiator, begun.pending, remote, answered.message)
  if (opened === undefined) throw new Error('response not opened')
  const times = { createdAtMs: 0, localIndex: 0 }
  const ours = createSession({ ...opened.keys, remoteIndex: opened.remoteIndex, isInitiator: true, ...times })
  const theirs = createSession({ ...answered.keys, remoteIndex: 0x11223344, isInitiator: false, ...times })

  const packet = Uint8Array.from({ length: 33 }, (_, i) => i)
  packet.set([0x45, 1, 0, 33])
  packet.set([10, 0, 0, 2, 10, 0, 0, 1], 12)
  const sealer = { crypto: nodeCrypto, mtu: 1420, slab: createSlab() }
  const keepalive = sealTransport(sealer, ours, new Uint8Array())
  const data = sealTransport(sealer, ours, packet)
  expect(hex(keepalive)).toBe(keepaliveHex)
  expect(hex(data)).toBe(dataHex)
  expect(hex(sealTransport(sealer, theirs, new Uint8Array()))).toBe(answerHex)

  const plaintext = openTransport(nodeCrypto, theirs, data, 0)
  if (typeof plaintext === 'string') throw new Error(plaintext)
  expect(hex(plaintext)).toBe(hex(packet) + '00'.repeat(15))
})

test('a false response leaves the initiation able to take the true one', () => {
  const { remote, begun, answered } = handshake()
  for (let offset = 12; offset < 60; offset++) {
    const forged = Uint8Array.from(answered.message)
    forged[offset] = (forged[offset] ?? 0) ^ 0x40
    const opened = openResponse(nodeCrypto, initiator, begun.pending, remote, forged)
    expect({ offset, opened }).toEqual({ offset, opened: undefined })
  }
  expect(openResponse(nodeCrypto, initiator, begun.pending, remote, answered.message)).toBeDefined()
})

test('an initiation with any byte of it changed proves nothing', () => {
  const { begun, received } = handshake()
  expect(received).toBeDefined()
  const staticShared = sharedOf(responder, identityOf(initiator))
  for (let offset = 8; offset < 116; offset++) {
    const forged = Uint8Array.from(begun.message)
    forged[offset] = (forged[offset] ?? 0) ^ 0x40
    const opened = openInitiation(nodeCrypto, responder, forged)
    const timestamp = opened && openTimestamp(nodeCrypto, opened, staticShared, forged)
    expect({ offset, timestamp }).toEqual({ offset, timestamp: undefined })
  }
})

/** Points of small order (RFC 7748 §6.1, Curve25519 and its twist). */
const lowOrderPoints = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]

test('points next to those of low order are keys like all others', () => {
  for (const point of lowOrderPoints.slice(2)) {
    const bytes = Uint8Array.from(Buffer.from(point, 'hex'))
    for (const next of [bytes.with(0, bytes[0]! ^ 0x10), bytes.with(30, bytes[30]! ^ 1)]) {
      expect(isLowOrder(next)).toBe(false)
      expect(nodeCrypto.dh(keyOf(1), next)).toBeDefined()
    }
  }
})

test.each(lowOrderPoints)('the low-order point %s is refused wherever it stands', (point) => {
  const bytes = Uint8Array.from(Buffer.from(point, 'hex'))
  const withTopBit = bytes.with(31, bytes[31]! | 0x80)
  for (const spelling of [bytes, withTopBit]) {
    expect(isLowOrder(spelling)).toBe(true)
    expect(nodeCrypto.dh(keyOf(1), spelling)).toBeUndefined()
  }
  const { remote, begun, answered } = handshake()
  const initiation = Uint8Array.from(begun.message)
  initiation.set(bytes, 8)
  expect(openInitiation(nodeCrypto, responder, initiation)).toBeUndefined()
  const response = Uint8Array.from(answered.message)
  response.set(bytes, 12)
  expect(openResponse(nodeCrypto, initiator, begun.pending, remote, response)).toBeUndefined()
})
