/** Handles a connection's deadlines. Called by the stack when the earliest of `deadlines` has passed. */
import { beginUndo, detectLosses } from './acknowledgment.ts'
import type { Connection } from './connection.ts'
import { narrowBlackHole } from './path-mtu.ts'
import { resend, sendNextSegment, sendProbe, sendReset } from './tcp-output.ts'
import { distance } from './sequence.ts'

/**
 * RFC 9293 §3.8.3: R2, how long to retry a silent peer: at least 100 s, and 3 minutes for a SYN, less for a SYN here.
 */
const GIVE_UP_MS = 100_000
/** As libuv sets them on a socket: one probe a second, ten in total. */
const KEEPALIVE_INTERVAL_MS = 1_000
const KEEPALIVE_PROBES = 10
const MAX_PERSIST_BACKOFF = 10

export function runTimeouts(connection: Connection, now: number): void {
  connection.host.markDirty(connection)
  if (now >= connection.deadlines.expireAt) return expire(connection)
  if (now >= connection.deadlines.delayedAckAt) {
    connection.deadlines.delayedAckAt = Infinity
    connection.ackDue = true
  }
  if (now >= connection.deadlines.paceAt) connection.deadlines.paceAt = Infinity
  if (now >= connection.deadlines.reorderAt) detectLosses(connection, now)
  if (now >= connection.deadlines.probeAt) probeTail(connection, now)
  if (now >= connection.deadlines.retransmitAt) retransmit(connection, now)
  if (now >= connection.deadlines.persistAt) persist(connection, now)
  if (now >= connection.deadlines.keepaliveAt) keepAlive(connection, now)
}

function expire(connection: Connection): void {
  if (connection.state === 'time-wait') return connection.finish(undefined)
  if (connection.state !== 'syn-received') sendReset(connection)
  connection.finish('timed-out')
}

/** RFC 6298 §5.4 to §5.7. */
function retransmit(connection: Connection, now: number): void {
  const { queue, roundTrip } = connection
  if (now - connection.silentSince >= GIVE_UP_MS) {
    if (connection.state !== 'syn-sent') sendReset(connection)
    return connection.finish('timed-out')
  }
  roundTrip.backOff()
  narrowBlackHole(connection)
  connection.deadlines.retransmitAt = now + roundTrip.timeoutMs
  if (connection.state === 'syn-sent' || connection.state === 'syn-received') {
    connection.synDue = true
    return
  }
  if (queue.isEmpty) {
    connection.deadlines.retransmitAt = Infinity
    return
  }
  const isFirst = connection.recovery !== 'timeout'
  if (isFirst) beginUndo(connection)
  connection.congestion.onTimeout(queue.bytes, isFirst)
  connection.recovery = 'timeout'
  connection.timedOutAt = now
  connection.recoveryPoint = connection.sendNext
  connection.probeEnd = undefined
  connection.deadlines.probeAt = connection.deadlines.reorderAt = Infinity
  connection.duplicateAcks = queue.departedBytes = 0
  // A peer that dropped reported data has its first segment reported and not acknowledged (RFC 6675 §5.1).
  if (queue.first?.sacked === true) queue.clearSacked()
  connection.rack.markAtTimeout(queue, now, roundTrip)
  // The earliest one is sent regardless of the window (RFC 6298 §5.4).
  const first = queue.firstUnsacked
  if (first !== undefined) resend(connection, first, now)
}

/** RFC 8985 §7.3: new data if the window allows, else the last segment again. */
function probeTail(connection: Connection, now: number): void {
  const { queue } = connection
  connection.deadlines.probeAt = Infinity
  const last = queue.last
  if (last === undefined || connection.recovery !== 'none') return
  const unsent = distance(connection.sendBuffer.end, connection.sendNext)
  const usable = connection.sendWindow - distance(connection.sendNext, connection.unacknowledged)
  // Negative once the FIN was sent.
  const length = Math.max(0, Math.min(unsent, connection.segmentBytes))
  connection.isProbeRetransmission = length === 0 || length > usable
  if (!connection.isProbeRetransmission) sendNextSegment(connection, length, now)
  else resend(connection, last, now)
  connection.probeEnd = connection.sendNext
  connection.probeDue = false
  connection.deadlines.retransmitAt = now + connection.roundTrip.timeoutMs
}

/**
 * RFC 9293 §3.8.6.1: sends what fits even if it is a sliver; with no window at all, a probe that the peer must answer.
 */
function persist(connection: Connection, now: number): void {
  connection.deadlines.persistAt = Infinity
  if (connection.persistBackoff < MAX_PERSIST_BACKOFF) connection.persistBackoff++
  if (!connection.queue.isEmpty) return
  const unsent = distance(connection.sendBuffer.end, connection.sendNext)
  const usable = connection.sendWindow - distance(connection.sendNext, connection.unacknowledged)
  if (unsent <= 0) return
  if (usable > 0) sendNextSegment(connection, Math.min(unsent, usable, connection.segmentBytes), now)
  else if (now - connection.lastHeardAt >= GIVE_UP_MS && connection.persistBackoff > 3) {
    sendReset(connection)
    connection.finish('timed-out')
  } else sendProbe(connection)
}

/** RFC 9293 §3.8.4. While data is unacknowledged, its own timers apply, and their limits count. */
function keepAlive(connection: Connection, now: number): void {
  const { keepaliveMs } = connection
  const idleMs = now - connection.lastHeardAt
  const isOwing = !connection.queue.isEmpty || connection.hasToSend
  if (keepaliveMs === undefined) connection.deadlines.keepaliveAt = Infinity
  else if (isOwing) connection.deadlines.keepaliveAt = now + keepaliveMs
  else if (idleMs < keepaliveMs) connection.deadlines.keepaliveAt = connection.lastHeardAt + keepaliveMs
  else if (connection.keepaliveProbes >= KEEPALIVE_PROBES) {
    sendReset(connection)
    connection.finish('timed-out')
  } else {
    connection.keepaliveProbes++
    connection.deadlines.keepaliveAt = now + KEEPALIVE_INTERVAL_MS
    sendProbe(connection)
  }
}
