/**
 * Sends a connection's segments when that is allowed (RFC 9293 §3.8, §3.10.7.4 end). Called by the stack once a tick
 * for each connection with something to send, so that a batch of arrivals yields one acknowledgment.
 */
import type { Connection } from './connection.ts'
import { isLengthProbeDue, noteLengthProbe } from './path-mtu.ts'
import { probeTimeoutMs } from './rack.ts'
import { WINDOW_SCALE } from './receive-window.ts'
import type { SentSegment } from './retransmission.ts'
import { ACK, FIN, PSH, RST, SYN, encodeSegment } from './segment.ts'
import { advance, distance } from './sequence.ts'
import { Timestamps } from './timestamps.ts'

/** How many segments one connection may send in one tick; the rest waits for the next. */
const BURST_SEGMENTS = 32
/** RFC 9293 §3.8.6.3 allows 500 ms at most. */
const DELAYED_ACK_MS = 40

/** Sends all that may leave now. Returns true when only the burst limit stopped it. */
export function transmit(connection: Connection, now: number): boolean {
  switch (connection.state) {
    case 'closed':
      return false
    case 'syn-sent':
    case 'syn-received':
      if (connection.synDue) sendSyn(connection, now)
      return false
    case 'time-wait':
      if (connection.ackDue) sendAck(connection)
      return false
  }
  const isBurst = sendPaced(connection, now)
  acknowledgeReceived(connection, now)
  armProbe(connection, now)
  return isBurst
}

/** Returns true when only the burst limit stopped it; sets a deadline when the pacer did. */
function sendPaced(connection: Connection, now: number): boolean {
  const { congestion, pacer, segmentBytes } = connection
  connection.deadlines.paceAt = Infinity
  if (!connection.hasToSend) {
    armPersist(connection, now)
    return false
  }
  const allowance = pacer.fill(now, {
    window: congestion.window,
    smoothedMs: connection.roundTrip.smoothedMs,
    isInSlowStart: congestion.isInSlowStart,
    segmentBytes,
  })
  const limit = Math.min(BURST_SEGMENTS, Math.floor(allowance / segmentBytes))
  let budget = limit
  if (connection.queue.lostBytes > 0) budget = retransmitLost(connection, now, budget)
  if (connection.queue.lostBytes === 0) budget = sendNew(connection, now, budget)
  if (limit > 0) pacer.spend((limit - budget) * segmentBytes)
  if (budget > 0) return false
  if (limit === BURST_SEGMENTS) return true
  connection.deadlines.paceAt = pacer.nextAt(now, segmentBytes)
  return false
}

function acknowledgeReceived(connection: Connection, now: number): void {
  if (connection.unackedBytes > 0 && !connection.ackDue) {
    // Every second full segment at least (RFC 5681 §4.2), and promptly while the peer is in slow start.
    if (connection.unackedBytes >= 2 * connection.largestReceived || connection.quickAcks > 0) {
      connection.quickAcks = Math.max(0, connection.quickAcks - 1)
      connection.ackDue = true
    } else if (connection.deadlines.delayedAckAt === Infinity) connection.deadlines.delayedAckAt = now + DELAYED_ACK_MS
  }
  if (connection.ackDue) sendAck(connection)
}

function sendSyn(connection: Connection, now: number): void {
  connection.synDue = false
  connection.synTransmissions++
  const isAnswer = connection.state === 'syn-received'
  connection.sendNext = advance(connection.initialSendSequence, 1)
  connection.lastSentAt = now
  if (connection.deadlines.retransmitAt === Infinity) {
    connection.silentSince = now
    connection.deadlines.retransmitAt = now + connection.roundTrip.timeoutMs
  }
  const packet = encodeSegment(
    {
      source: connection.host.address,
      destination: connection.remoteAddress,
      sourcePort: connection.localPort,
      destinationPort: connection.remotePort,
      sequence: connection.initialSendSequence,
      acknowledgment: isAnswer ? connection.receiveNext : 0,
      flags: isAnswer ? SYN | ACK : SYN,
      // The window of a SYN is never scaled (RFC 7323 §2.2).
      window: 0xffff,
      mss: connection.advertisedMss,
      windowScale: !isAnswer || connection.receiveWindow.scale > 0 ? WINDOW_SCALE : undefined,
      sackPermitted: !isAnswer || connection.sackPermitted,
      ...synTimestamp(connection, isAnswer, now),
    },
    connection.host.allocate,
  )
  connection.host.emit({ type: 'packet', packet })
}

/** A SYN offers timestamps, a SYN-ACK carries them if the SYN did (RFC 7323 §3.2). */
function synTimestamp(
  connection: Connection,
  isAnswer: boolean,
  now: number,
): { timestamp: number | undefined; timestampEcho: number } {
  const { timestamps } = connection
  if (isAnswer) return { timestamp: timestamps?.value(now), timestampEcho: timestamps?.recent ?? 0 }
  return { timestamp: new Timestamps(connection.timestampOffset, 0, now).value(now), timestampEcho: 0 }
}

function retransmitLost(connection: Connection, now: number, budget: number): number {
  const { queue } = connection
  let left = budget
  queue.forEach((segment) => {
    if (queue.lostBytes === 0 || left <= 0) return false
    if (!segment.lost) return true
    const length = distance(segment.end, segment.start)
    // The first of a recovery always (RFC 5681 §3.2 step 3, RFC 6675 §5 step 4.3), and one when nothing is in flight.
    const isFree = connection.isRetransmissionDue || queue.pipe === 0
    if (!isFree && queue.pipe + length > connection.congestion.window) return false
    connection.isRetransmissionDue = false
    resend(connection, segment, now)
    left--
    return true
  })
  return left
}

/** Sends one segment in flight again, split first if the path's MTU shrank. */
export function resend(connection: Connection, segment: SentSegment, now: number): void {
  const dataLength = distance(segment.end, segment.start) - (segment.isFin ? 1 : 0)
  if (dataLength > connection.segmentBytes) connection.queue.split(segment, connection.segmentBytes)
  connection.queue.clearLost(segment)
  segment.retransmitted = true
  connection.undoCount++
  connection.undoTimestamp ??= connection.timestamps?.value(now)
  segment.sentAt = now
  emitData(connection, segment)
  connection.lastSentAt = now
  if (connection.deadlines.retransmitAt === Infinity)
    connection.deadlines.retransmitAt = now + connection.roundTrip.timeoutMs
}

function sendNew(connection: Connection, now: number, budget: number): number {
  const { queue, congestion } = connection
  connection.isWindowLimited = false
  const isIdle = queue.isEmpty && now - connection.lastSentAt > connection.roundTrip.timeoutMs
  if (isIdle && distance(connection.sendBuffer.end, connection.sendNext) > 0) congestion.onIdle()
  let left = budget
  while (left > 0) {
    const unsent = distance(connection.sendBuffer.end, connection.sendNext)
    const isFinNext = connection.isFinQueued && unsent >= 0
    if (unsent < 0 || (unsent === 0 && !isFinNext)) break
    const usable = distance(advance(connection.unacknowledged, connection.sendWindow), connection.sendNext)
    let length = Math.min(connection.segmentBytes, unsent)
    if (connection.longerSegmentBytes > 0 && isLengthProbeDue(connection, Math.min(unsent, usable)))
      length = connection.longerSegmentBytes
    if (length > usable || (length === 0 && usable <= 0 && !queue.isEmpty)) {
      // Sender's silly-window avoidance (RFC 9293 §3.8.6.2.1); the persist timer is its override.
      if (usable <= 0 || usable < connection.maxSendWindow / 2) break
      length = usable
    }
    if (connection.holdsSmall && length < connection.segmentBytes && !isFinNext && !queue.isEmpty) break
    if (length > congestion.window - queue.pipe) {
      connection.isWindowLimited = true
      break
    }
    sendNextSegment(connection, length, now)
    left--
  }
  armPersist(connection, now)
  return left
}

/** Sends `length` unsent bytes, with the FIN if they are the last. The caller has checked the windows. */
export function sendNextSegment(connection: Connection, length: number, now: number): void {
  const isFin = connection.isFinQueued && length === distance(connection.sendBuffer.end, connection.sendNext)
  if (connection.queue.isEmpty) connection.silentSince = now
  const segment: SentSegment = {
    start: connection.sendNext,
    end: advance(connection.sendNext, length + (isFin ? 1 : 0)),
    sentAt: now,
    isFin,
    retransmitted: false,
    sacked: false,
    lost: false,
  }
  connection.sendNext = segment.end
  connection.queue.push(segment)
  if (length > connection.segmentBytes) noteLengthProbe(connection, segment)
  connection.probeDue = true
  if (isFin) {
    if (connection.state === 'established') connection.state = 'fin-wait-1'
    else if (connection.state === 'close-wait') connection.state = 'last-ack'
  }
  emitData(connection, segment)
  connection.lastSentAt = now
  if (connection.deadlines.retransmitAt === Infinity)
    connection.deadlines.retransmitAt = now + connection.roundTrip.timeoutMs
}

function emitData(connection: Connection, segment: SentSegment): void {
  const length = distance(segment.end, segment.start) - (segment.isFin ? 1 : 0)
  const isLast = segment.end === advance(connection.sendBuffer.end, segment.isFin ? 1 : 0)
  emitSegment(connection, {
    sequence: segment.start,
    flags: ACK | (isLast ? PSH : 0) | (segment.isFin ? FIN : 0),
    payload: length > 0 ? connection.sendBuffer.view(segment.start, length) : undefined,
  })
}

export function sendAck(connection: Connection): void {
  emitSegment(connection, { sequence: connection.sendNext, flags: ACK, payload: undefined })
}

/**
 * A segment before the peer's window, which it must answer: for keepalive and zero windows (RFC 9293 §3.8.4, §3.8.6.1).
 */
export function sendProbe(connection: Connection): void {
  emitSegment(connection, { sequence: advance(connection.unacknowledged, -1), flags: ACK, payload: undefined })
}

export function sendReset(connection: Connection): void {
  emitSegment(connection, { sequence: connection.sendNext, flags: RST | ACK, payload: undefined })
}

function emitSegment(
  connection: Connection,
  content: { sequence: number; flags: number; payload: Uint8Array | undefined },
): void {
  // A FIN is acknowledged as soon as everything before it arrived; then the window no longer matters.
  const { receiveWindow, timestamps } = connection
  receiveWindow.edge = receiveWindow.nextEdge(connection.receiveNext, connection.reassembly.readyBytes)
  const window = Math.max(0, distance(receiveWindow.edge, connection.receiveNext)) >>> receiveWindow.scale
  connection.lastAcknowledgment = connection.receiveNext
  const packet = encodeSegment(
    {
      // Each by its name: copying them from another object costs more than writing them.
      source: connection.host.address,
      destination: connection.remoteAddress,
      sourcePort: connection.localPort,
      destinationPort: connection.remotePort,
      sequence: content.sequence,
      acknowledgment: connection.receiveNext,
      flags: content.flags,
      window: Math.min(window, 0xffff),
      // Blocks are sent on bare acknowledgments only: data segments are already as long as the path carries.
      sack:
        connection.sackPermitted && content.payload === undefined
          ? connection.receivedBlocks.report(timestamps === undefined ? 4 : 3)
          : undefined,
      timestamp: timestamps?.value(connection.host.now),
      timestampEcho: timestamps?.recent ?? 0,
      payload: content.payload,
    },
    connection.host.allocate,
  )
  if (content.payload === undefined || !connection.reassembly.hasGap) connection.ackDue = false
  connection.unackedBytes = 0
  connection.deadlines.delayedAckAt = Infinity
  connection.host.emit({ type: 'packet', packet })
}

/** Data waits, nothing is in flight, and the peer's window holds it back (RFC 9293 §3.8.6.1). */
function armPersist(connection: Connection, now: number): void {
  const isBlocked = connection.queue.isEmpty && distance(connection.sendBuffer.end, connection.sendNext) > 0
  if (!isBlocked || connection.isWindowLimited) {
    connection.deadlines.persistAt = Infinity
    connection.persistBackoff = 0
  } else if (connection.deadlines.persistAt === Infinity) {
    connection.deadlines.persistAt =
      now + Math.min(60_000, connection.roundTrip.timeoutMs * 2 ** connection.persistBackoff)
  }
}

/** RFC 8985 §7.2: a probe for a lost tail, instead of a timeout that would come before it. */
function armProbe(connection: Connection, now: number): void {
  const { queue } = connection
  if (!connection.probeDue) return
  connection.probeDue = false
  connection.deadlines.probeAt = Infinity
  if (queue.isEmpty || connection.recovery !== 'none' || !connection.sackPermitted || connection.probeEnd !== undefined)
    return
  const at = now + probeTimeoutMs(connection.roundTrip, queue.count)
  connection.deadlines.probeAt = Math.min(at, connection.deadlines.retransmitAt)
}
