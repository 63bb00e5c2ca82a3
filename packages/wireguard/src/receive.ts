/**
 * Incoming datagrams (§5.4). All of this is untrusted input: each refusal is a drop with a reason, and nothing throws,
 * waits or is stored for a sender that is not an authenticated peer.
 */

import { readInnerPacket } from './allowed-ips.ts'
import { MIN_INITIATION_INTERVAL_MS } from './constants.ts'
import { isMac1Right, readCookieReply } from './cookie.ts'
import type { DeviceState, Turn } from './device-state.ts'
import { drop, freshIndex } from './device-state.ts'
import type { ReceivedInitiation, TransportKeys } from './handshake.ts'
import { createResponse, openInitiation, openResponse, openTimestamp, staticSharedWith } from './handshake.ts'
import { requestHandshake, sendHandshakeMessage } from './initiate.ts'
import { encodePublicKey } from './keys.ts'
import { CookieReply, MessageType, Response, Transport, messageTypeOf, readUint32 } from './messages.ts'
import { eraseState } from './noise.ts'
import type { Endpoint } from './outputs.ts'
import type { Peer } from './peer.ts'
import { confirmNext, installAsInitiator, installAsResponder, retirePending } from './peer.ts'
import { createSession, openTransport } from './session.ts'
import { isLater } from './tai64n.ts'
import { authenticatedReceived, dataReceived, handshakeCompleted, isDueForReceiving, sessionDerived } from './timers.ts'
import { flush } from './transmit.ts'

export function receiveDatagram(state: DeviceState, datagram: Uint8Array, from: Endpoint, turn: Turn): void {
  switch (messageTypeOf(datagram)) {
    case MessageType.transport:
      return receiveTransport(state, datagram, from, turn)
    case MessageType.initiation:
      if (mayHandshake(state, datagram, from, turn)) receiveInitiation(state, datagram, from, turn)
      return
    case MessageType.response:
      if (mayHandshake(state, datagram, from, turn)) receiveResponse(state, datagram, from, turn)
      return
    case MessageType.cookieReply:
      return receiveCookieReply(state, datagram, turn)
    case undefined:
      return drop(turn, 'malformed')
  }
}

/** §5.3: mac1 always; under load also mac2, and a rate for each source. */
function mayHandshake(state: DeviceState, message: Uint8Array, from: Endpoint, turn: Turn): boolean {
  if (!isMac1Right(state.crypto, message, state.mac1Key)) {
    drop(turn, 'bad-mac1')
    return false
  }
  if (!state.load.count(turn.nowMs)) return true
  if (!state.cookies.isMac2Right(message, from, turn.nowMs)) {
    turn.outputs.push({ type: 'datagram', data: state.cookies.reply(message, from, turn.nowMs), to: from })
    drop(turn, 'cookie-required')
    return false
  }
  if (!state.load.admits(from.address, turn.nowMs)) {
    drop(turn, 'rate-limited')
    return false
  }
  return true
}

/** §5.4.2, and the answer of §5.4.3. */
function receiveInitiation(state: DeviceState, message: Uint8Array, from: Endpoint, turn: Turn): void {
  const received = openInitiation(state.crypto, state.local, message)
  if (received === undefined) return drop(turn, 'bad-handshake')
  answerInitiation(state, { received, message, from }, turn)
  eraseState(received.state)
}

function answerInitiation(
  state: DeviceState,
  { received, message, from }: { received: ReceivedInitiation; message: Uint8Array; from: Endpoint },
  turn: Turn,
): void {
  const { crypto } = state
  const peer = state.peers.get(encodePublicKey(received.remoteStatic))
  if (peer === undefined) return drop(turn, 'unknown-peer')
  const staticShared = staticSharedWith(crypto, state.local, peer)
  const timestamp = staticShared && openTimestamp(crypto, received, staticShared, message)
  if (timestamp === undefined) return drop(turn, 'bad-handshake')
  if (!isLater(timestamp, peer.latestTimestamp)) return drop(turn, 'replayed-initiation')
  if (turn.nowMs - peer.initiationReceivedAtMs < MIN_INITIATION_INTERVAL_MS) return drop(turn, 'initiation-flood')
  peer.latestTimestamp = timestamp
  peer.initiationReceivedAtMs = turn.nowMs

  const localIndex = freshIndex(state)
  const answer = createResponse(crypto, received, peer, localIndex)
  if (answer === undefined) return drop(turn, 'bad-handshake')
  noteReceived(state, peer, { size: message.length, from }, turn)
  const indices = { localIndex, remoteIndex: received.remoteIndex }
  installAsResponder(
    state.indices,
    peer,
    addSession(state, peer, { ...indices, ...answer.keys, isInitiator: false }, turn),
  )
  peer.handshakeSentAtMs = turn.nowMs
  sendHandshakeMessage(state, peer, { message: answer.message, to: from }, turn)
}

/**
 * §5.4.3: our initiation was answered. Data or a keepalive goes out at once, which confirms the session to the
 * responder.
 */
function receiveResponse(state: DeviceState, message: Uint8Array, from: Endpoint, turn: Turn): void {
  const localIndex = readUint32(message, Response.receiver)
  const entry = state.indices.get(localIndex)
  if (entry === undefined) return drop(turn, 'unknown-index')
  const { peer } = entry
  if (entry.session !== undefined || peer.pending === undefined) return drop(turn, 'unexpected-response')
  const opened = openResponse(state.crypto, state.local, peer.pending, peer, message)
  if (opened === undefined) return drop(turn, 'bad-handshake')

  noteReceived(state, peer, { size: message.length, from }, turn)
  retirePending(state.indices, peer)
  const indices = { localIndex, remoteIndex: opened.remoteIndex }
  installAsInitiator(
    state.indices,
    peer,
    addSession(state, peer, { ...indices, ...opened.keys, isInitiator: true }, turn),
  )
  handshakeCompleted(peer, turn.unixMs)
  turn.outputs.push({ type: 'handshake', peer: peer.publicKey, endpoint: from })
  flush(state, peer, turn, { keepalive: true })
}

function receiveCookieReply(state: DeviceState, reply: Uint8Array, turn: Turn): void {
  const entry = state.indices.get(readUint32(reply, CookieReply.receiver))
  if (entry === undefined) return drop(turn, 'unknown-index')
  if (!readCookieReply(state.crypto, reply, entry.peer, turn.nowMs)) drop(turn, 'bad-cookie-reply')
}

/** §5.4.6 */
function receiveTransport(state: DeviceState, datagram: Uint8Array, from: Endpoint, turn: Turn): void {
  const entry = state.indices.get(readUint32(datagram, Transport.receiver))
  if (entry?.session === undefined) return drop(turn, 'unknown-index')
  const { peer, session } = entry
  const packet = openTransport(state.crypto, session, datagram, turn.nowMs)
  if (typeof packet === 'string') return drop(turn, packet)

  noteReceived(state, peer, { size: datagram.length, from }, turn)
  if (session === peer.next) {
    confirmNext(peer)
    handshakeCompleted(peer, turn.unixMs)
    turn.outputs.push({ type: 'handshake', peer: peer.publicKey, endpoint: from })
    flush(state, peer, turn, { keepalive: false })
  }
  if (!peer.hasRenewedForReceiving && peer.current !== undefined && isDueForReceiving(peer.current, turn.nowMs)) {
    peer.hasRenewedForReceiving = true
    requestHandshake(state, peer, turn)
  }
  if (packet.length > 0) deliver(state, peer, packet, turn)
}

/** §2: what a peer sends must come from an address that it may use. */
function deliver(state: DeviceState, peer: Peer, padded: Uint8Array, turn: Turn): void {
  dataReceived(state, peer, turn.nowMs)
  const inner = readInnerPacket(padded)
  if (inner === undefined) return drop(turn, 'bad-inner-packet')
  if (state.allowedIps.lookup(padded, inner.sourceOffset, inner.addressSize) !== peer) {
    return drop(turn, 'source-not-allowed')
  }
  const data = inner.length === padded.length ? padded : padded.subarray(0, inner.length)
  turn.outputs.push({ type: 'packet', data, peer: peer.publicKey })
}

/** The peer proved itself with this datagram: count it and update the peer's endpoint (§2.1). */
function noteReceived(
  state: DeviceState,
  peer: Peer,
  { size, from }: { size: number; from: Endpoint },
  turn: Turn,
): void {
  peer.receivedBytes += size
  if (peer.endpoint?.port !== from.port || peer.endpoint.address !== from.address) {
    peer.endpoint = { address: from.address, port: from.port }
  }
  authenticatedReceived(state, peer, turn.nowMs)
}

function addSession(
  state: DeviceState,
  peer: Peer,
  fields: TransportKeys & { localIndex: number; remoteIndex: number; isInitiator: boolean },
  turn: Turn,
) {
  const session = createSession({ ...fields, createdAtMs: turn.nowMs })
  state.indices.set(session.localIndex, { peer, session })
  sessionDerived(state, peer, turn.nowMs)
  return session
}
