/** Outgoing packets: routed by destination (§2), encrypted for the current session, or queued until there is one. */

import { readInnerPacket } from './allowed-ips.ts'
import { MAX_QUEUED_PACKETS } from './constants.ts'
import type { DeviceState, Turn } from './device-state.ts'
import { drop } from './device-state.ts'
import { awaitHandshake, requestHandshake } from './initiate.ts'
import { Transport } from './messages.ts'
import type { Peer } from './peer.ts'
import { isUsable, sealTransport } from './session.ts'
import { authenticatedSent, dataSent, isDueForSending } from './timers.ts'

const EMPTY = new Uint8Array(0)
/** The most that one UDP datagram over IPv4 carries. */
const MAX_PACKET_BYTES = 65_535 - 20 - 8 - Transport.minSize

export function sendPacket(state: DeviceState, packet: Uint8Array, turn: Turn): void {
  const inner = readInnerPacket(packet)
  if (inner === undefined || inner.length !== packet.length || packet.length > MAX_PACKET_BYTES) {
    drop(turn, 'bad-packet')
    return
  }
  const peer = state.allowedIps.lookup(packet, inner.destinationOffset, inner.addressSize)
  if (peer === undefined) {
    drop(turn, 'no-route')
  } else if (!sendOnSession(state, peer, packet, turn)) {
    if (peer.queue.length >= MAX_QUEUED_PACKETS) {
      peer.queue.shift()
      drop(turn, 'queue-full')
    }
    peer.queue.push(new Uint8Array(packet))
    if (peer.endpoint === undefined) awaitHandshake(state, peer, turn)
    else requestHandshake(state, peer, turn)
  }
}

/** Sends queued packets; with `keepalive`, an empty packet if none is queued. Without a session, requests one. */
export function flush(state: DeviceState, peer: Peer, turn: Turn, { keepalive }: { keepalive: boolean }): void {
  const waiting = peer.queue.length > 0 ? peer.queue : keepalive ? [EMPTY] : []
  let sent = 0
  while (sent < waiting.length && sendOnSession(state, peer, waiting[sent] ?? EMPTY, turn)) sent++
  const hasLeft = sent < waiting.length
  peer.queue.splice(0, sent)
  if (hasLeft) requestHandshake(state, peer, turn)
}

/** False when there is no session that may still send (§6.2). */
function sendOnSession(state: DeviceState, peer: Peer, packet: Uint8Array, turn: Turn): boolean {
  const session = peer.current
  if (session === undefined || peer.endpoint === undefined || !isUsable(session, turn.nowMs)) return false
  const data = sealTransport(state, session, packet)
  peer.sentBytes += data.length
  turn.outputs.push({ type: 'datagram', data, to: peer.endpoint, peer: peer.publicKey })
  authenticatedSent(state, peer, turn.nowMs)
  if (packet.length > 0) dataSent(state, peer, turn.nowMs)
  if (isDueForSending(session, turn.nowMs)) requestHandshake(state, peer, turn)
  return true
}
