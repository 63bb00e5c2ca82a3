/**
 * One pair of transport keys (§5.4.5, §5.4.6): numbers and seals what goes out, opens and de-duplicates what comes in.
 */

import { REJECT_AFTER_MESSAGES, REJECT_AFTER_TIME_MS } from './constants.ts'
import type { Aead } from './crypto.ts'
import type { TransportKeys } from './handshake.ts'
import type { DropReason } from './drops.ts'
import { Transport, readCounter, writeTransportHeader } from './messages.ts'
import type { ReplayWindow } from './replay.ts'
import { acceptCounter, createReplayWindow, isFresh } from './replay.ts'
import type { Slab } from './slab.ts'

const EMPTY = new Uint8Array(0)
const PADDING = 16

export type Session = TransportKeys & {
  localIndex: number
  remoteIndex: number
  isInitiator: boolean
  createdAtMs: number
  sendCounter: number
  replay: ReplayWindow
}

export function createSession(fields: Omit<Session, 'sendCounter' | 'replay'>): Session {
  return { ...fields, sendCounter: 0, replay: createReplayWindow() }
}

/** §6.2: a session neither sends nor receives after 180 s or its last message. */
export function isUsable(session: Session, nowMs: number): boolean {
  return nowMs - session.createdAtMs < REJECT_AFTER_TIME_MS && session.sendCounter < REJECT_AFTER_MESSAGES
}

/** A transport message of `packet`, padded to 16 bytes but not past `mtu` (§5.4.6). An empty packet is a keepalive. */
export function sealTransport(
  { crypto, mtu, slab }: { crypto: Aead; mtu: number; slab: Slab },
  session: Session,
  packet: Uint8Array,
): Uint8Array {
  const paddedLength = Math.max(packet.length, Math.min(Math.ceil(packet.length / PADDING) * PADDING, mtu))
  const counter = session.sendCounter++
  const datagram = slab.cut(Transport.minSize + paddedLength)
  writeTransportHeader(datagram, session.remoteIndex, counter)
  const sealed = datagram.subarray(Transport.headerSize)
  let plaintext = packet
  if (paddedLength !== packet.length) {
    // In place, so that padding needs no memory of its own.
    sealed.set(packet)
    sealed.fill(0, packet.length, paddedLength)
    plaintext = sealed.subarray(0, paddedLength)
  }
  crypto.seal(session.sendKey, counter, plaintext, EMPTY, sealed)
  return datagram
}

/**
 * The padded packet inside a transport message, decrypted in place, or the reason for a refusal, which leaves the
 * datagram unchanged. Marks its counter only after the tag was verified.
 */
export function openTransport(
  aead: Aead,
  session: Session,
  datagram: Uint8Array,
  nowMs: number,
): Uint8Array | DropReason {
  if (nowMs - session.createdAtMs >= REJECT_AFTER_TIME_MS) return 'expired-session'
  const counter = readCounter(datagram)
  if (counter >= REJECT_AFTER_MESSAGES) return 'counter-exhausted'
  if (!isFresh(session.replay, counter)) return 'replayed-counter'
  const { buffer, byteOffset, length } = datagram
  // Plain views, whatever the datagram is: the `slice` of a Node Buffer would share memory with a caller that keeps a
  // part.
  const sealed = new Uint8Array(buffer, byteOffset + Transport.headerSize, length - Transport.headerSize)
  const packet = new Uint8Array(buffer, sealed.byteOffset, length - Transport.minSize)
  if (!aead.open(session.receiveKey, counter, sealed, EMPTY, packet)) return 'bad-transport'
  acceptCounter(session.replay, counter)
  return packet
}

export function eraseSession(session: Session): void {
  session.sendKey.fill(0)
  session.receiveKey.fill(0)
}
