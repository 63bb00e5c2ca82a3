/** Sends initiations, never more often than one in 5 s per peer (§6.1, §6.4). */

import { NEVER, REKEY_ATTEMPT_TIME_MS, REKEY_TIMEOUT_MS } from './constants.ts'
import { writeMacs } from './cookie.ts'
import type { DeviceState, Turn } from './device-state.ts'
import { freshIndex } from './device-state.ts'
import { createInitiation } from './handshake.ts'
import type { Endpoint } from './outputs.ts'
import type { Peer } from './peer.ts'
import { retirePending } from './peer.ts'
import { authenticatedSent, initiationSent } from './timers.ts'

/**
 * A new request for a session: starts an attempt, or gives the running one its 90 s again. Does nothing while the
 * peer's endpoint is unknown: a due keepalive must not postpone the end of `awaitHandshake`.
 */
export function requestHandshake(state: DeviceState, peer: Peer, turn: Turn): void {
  if (peer.endpoint === undefined) return
  peer.attemptStartedAtMs = turn.nowMs
  if (turn.nowMs - peer.handshakeSentAtMs >= REKEY_TIMEOUT_MS) {
    sendInitiation(state, peer, turn)
  } else if (peer.retransmitAtMs === NEVER) {
    scheduleInitiation(state, peer, peer.handshakeSentAtMs + REKEY_TIMEOUT_MS + peer.jitterMs)
  }
}

/**
 * For a peer without a known endpoint: the peer has to begin, within the time of an attempt of ours (§6.4). A gateway
 * approved a moment ago will connect soon; without this wait, its packets would come a TCP retransmission later.
 */
export function awaitHandshake(state: DeviceState, peer: Peer, turn: Turn): void {
  if (peer.retransmitAtMs !== NEVER) return
  peer.attemptStartedAtMs = turn.nowMs
  scheduleInitiation(state, peer, turn.nowMs + REKEY_ATTEMPT_TIME_MS)
}

/** Like `requestHandshake`, but begins with the next tick, which limits how many begin at once. */
export function scheduleHandshake(state: DeviceState, peer: Peer, nowMs: number): void {
  peer.attemptStartedAtMs = nowMs
  scheduleInitiation(state, peer, Math.max(nowMs, peer.handshakeSentAtMs + REKEY_TIMEOUT_MS))
}

export function sendInitiation(state: DeviceState, peer: Peer, turn: Turn): void {
  if (peer.endpoint === undefined) {
    peer.retransmitAtMs = NEVER
    return
  }
  retirePending(state.indices, peer)
  const localIndex = freshIndex(state)
  const timestamp = state.nextTimestamp(turn.unixMs)
  peer.handshakeSentAtMs = turn.nowMs
  initiationSent(state, peer, turn.nowMs)
  const made = createInitiation(state.crypto, state.local, peer, { localIndex, timestamp })
  if (made === undefined) return
  peer.pending = made.pending
  state.indices.set(localIndex, { peer, session: undefined })
  sendHandshakeMessage(state, peer, { message: made.message, to: peer.endpoint }, turn)
}

/** Completes the macs of an initiation or response and sends it. */
export function sendHandshakeMessage(
  state: DeviceState,
  peer: Peer,
  { message, to }: { message: Uint8Array; to: Endpoint },
  turn: Turn,
): void {
  writeMacs(state.crypto, message, peer, turn.nowMs)
  peer.sentBytes += message.length
  authenticatedSent(state, peer, turn.nowMs)
  turn.outputs.push({ type: 'datagram', data: message, to, peer: peer.publicKey })
}

function scheduleInitiation(state: DeviceState, peer: Peer, atMs: number): void {
  peer.retransmitAtMs = atMs
  state.deadlines.bring(peer, atMs)
}
