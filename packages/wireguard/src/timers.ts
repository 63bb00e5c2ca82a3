/**
 * The timers of section 6, as events on one peer. Each sets or clears a deadline; `tick.ts` handles those that passed.
 * None reads a clock.
 */

import {
  ERASE_AFTER_TIME_MS,
  KEEPALIVE_TIMEOUT_MS,
  NEVER,
  REJECT_AFTER_TIME_MS,
  REKEY_AFTER_MESSAGES,
  REKEY_AFTER_TIME_MS,
  REKEY_JITTER_MS,
  REKEY_TIMEOUT_MS,
} from './constants.ts'
import type { DeviceState } from './device-state.ts'
import type { Peer } from './peer.ts'
import type { Session } from './session.ts'

/**
 * §6.5: a packet with data went out, so an answer, if only a keepalive, is due within 10 s; without it, a new
 * handshake.
 */
export function dataSent(state: DeviceState, peer: Peer, nowMs: number): void {
  if (peer.newHandshakeAtMs !== NEVER) return
  peer.newHandshakeAtMs = nowMs + KEEPALIVE_TIMEOUT_MS + REKEY_TIMEOUT_MS + peer.jitterMs
  state.deadlines.bring(peer, peer.newHandshakeAtMs)
}

/** §6.5: a packet with data came in; unless something goes back within 10 s, a keepalive does. */
export function dataReceived(state: DeviceState, peer: Peer, nowMs: number): void {
  if (peer.keepaliveAtMs !== NEVER) {
    peer.needsAnotherKeepalive = true
    return
  }
  peer.keepaliveAtMs = nowMs + KEEPALIVE_TIMEOUT_MS
  state.deadlines.bring(peer, peer.keepaliveAtMs)
}

/** Something authenticated was sent: no passive keepalive is due. */
export function authenticatedSent(state: DeviceState, peer: Peer, nowMs: number): void {
  peer.keepaliveAtMs = NEVER
  peer.needsAnotherKeepalive = false
  traversed(state, peer, nowMs)
}

/** Something authenticated was received: the other side is alive. */
export function authenticatedReceived(state: DeviceState, peer: Peer, nowMs: number): void {
  peer.newHandshakeAtMs = NEVER
  traversed(state, peer, nowMs)
}

/** A persistent keepalive counts from the last authenticated packet either way. */
export function traversed(state: DeviceState, peer: Peer, nowMs: number): void {
  if (peer.persistentKeepaliveMs === 0) return
  peer.persistentAtMs = nowMs + peer.persistentKeepaliveMs
  state.deadlines.bring(peer, peer.persistentAtMs)
}

/** §6.4: an initiation went out; another follows in 5 s and some jitter. */
export function initiationSent(state: DeviceState, peer: Peer, nowMs: number): void {
  peer.jitterMs = ((state.crypto.random(1)[0] ?? 0) / 256) * REKEY_JITTER_MS
  peer.retransmitAtMs = nowMs + REKEY_TIMEOUT_MS + peer.jitterMs
  state.deadlines.bring(peer, peer.retransmitAtMs)
}

/** A session was confirmed by both sides. */
export function handshakeCompleted(peer: Peer, unixMs: number): void {
  peer.retransmitAtMs = NEVER
  peer.hasRenewedForReceiving = false
  peer.latestHandshakeAtMs = unixMs
}

/** §6.3: keys that nothing replaces for 540 s are zeroed. */
export function sessionDerived(state: DeviceState, peer: Peer, nowMs: number): void {
  peer.eraseAtMs = nowMs + ERASE_AFTER_TIME_MS
  state.deadlines.bring(peer, peer.eraseAtMs)
}

/** §6.2: the initiator renews a session 120 s old when it sends; either side renews after 2^52 messages. */
export function isDueForSending(session: Session, nowMs: number): boolean {
  if (session.sendCounter >= REKEY_AFTER_MESSAGES) return true
  return session.isInitiator && nowMs - session.createdAtMs >= REKEY_AFTER_TIME_MS
}

/** §6.2: an initiator that only receives renews just early enough that the session does not die between two packets. */
export function isDueForReceiving(session: Session, nowMs: number): boolean {
  const renewAfterMs = REJECT_AFTER_TIME_MS - KEEPALIVE_TIMEOUT_MS - REKEY_TIMEOUT_MS
  return session.isInitiator && nowMs - session.createdAtMs >= renewAfterMs
}

/** The earliest of a peer's deadlines. */
export function nextDeadlineOf(peer: Peer): number {
  return Math.min(peer.retransmitAtMs, peer.keepaliveAtMs, peer.newHandshakeAtMs, peer.eraseAtMs, peer.persistentAtMs)
}
