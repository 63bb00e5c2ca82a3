/**
 * Acts on deadlines that passed (§6). One call does a bounded amount; the rest stays due, so the caller comes back at
 * once.
 */

import {
  KEEPALIVE_TIMEOUT_MS,
  MAX_INITIATIONS_PER_TICK,
  MAX_PEERS_PER_TICK,
  NEVER,
  REKEY_ATTEMPT_TIME_MS,
} from './constants.ts'
import type { DeviceState, Turn } from './device-state.ts'
import { drop } from './device-state.ts'
import { requestHandshake, sendInitiation } from './initiate.ts'
import type { Peer } from './peer.ts'
import { erasePeerKeys, retirePending } from './peer.ts'
import { nextDeadlineOf, traversed } from './timers.ts'
import { flush } from './transmit.ts'

export function tickDevice(state: DeviceState, turn: Turn): void {
  let initiations = 0
  for (let done = 0; done < MAX_PEERS_PER_TICK && initiations < MAX_INITIATIONS_PER_TICK; done++) {
    const peer = state.deadlines.takeDue(turn.nowMs)
    if (peer === undefined) return
    const sentBeforeMs = peer.handshakeSentAtMs
    expire(state, peer, turn)
    if (peer.handshakeSentAtMs !== sentBeforeMs) initiations++
    const nextMs = nextDeadlineOf(peer)
    if (nextMs !== NEVER) state.deadlines.bring(peer, nextMs)
  }
}

function expire(state: DeviceState, peer: Peer, turn: Turn): void {
  const { nowMs } = turn
  if (peer.eraseAtMs <= nowMs) {
    peer.eraseAtMs = NEVER
    erasePeerKeys(state.indices, peer)
  }
  if (peer.retransmitAtMs <= nowMs) retransmit(state, peer, turn)
  if (peer.newHandshakeAtMs <= nowMs) {
    peer.newHandshakeAtMs = NEVER
    requestHandshake(state, peer, turn)
  }
  if (peer.keepaliveAtMs <= nowMs) {
    const again = peer.needsAnotherKeepalive
    peer.keepaliveAtMs = NEVER
    peer.needsAnotherKeepalive = false
    flush(state, peer, turn, { keepalive: true })
    if (again) peer.keepaliveAtMs = nowMs + KEEPALIVE_TIMEOUT_MS
  }
  if (peer.persistentAtMs <= nowMs) {
    traversed(state, peer, nowMs)
    flush(state, peer, turn, { keepalive: true })
  }
}

/** §6.4: again after 5 s, until 90 s have gone into it. */
function retransmit(state: DeviceState, peer: Peer, turn: Turn): void {
  if (turn.nowMs - peer.attemptStartedAtMs < REKEY_ATTEMPT_TIME_MS) {
    sendInitiation(state, peer, turn)
    return
  }
  peer.retransmitAtMs = NEVER
  retirePending(state.indices, peer)
  for (let left = peer.queue.length; left > 0; left--) drop(turn, 'handshake-timeout')
  peer.queue.length = 0
}
