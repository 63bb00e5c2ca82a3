/**
 * Processes an arriving segment: RFC 9293 §3.10.7.3 and §3.10.7.4 in their order, with the stricter rules of RFC 5961
 * for resets, SYNs and acknowledgments. Called by the stack for every segment of a known four-tuple. It sends no data;
 * it marks what is due, and `tcp-output.ts` sends it.
 */
import { acknowledge, updateSendWindow } from './acknowledgment.ts'
import type { Connection } from './connection.ts'
import type { DropReason } from './drop.ts'
import { refuse } from './reset.ts'
import { ACK, FIN, RST, SYN, type Segment, sequenceLength } from './segment.ts'
import { advance, after, before, distance } from './sequence.ts'
import { sendAck, sendReset } from './tcp-output.ts'

/**
 * Twice the maximum segment lifetime, for a tunnel's lifetime of 30 s (RFC 9293 §3.4.2 says 2 minutes, and that
 * engineering may choose).
 */
export const TIME_WAIT_MS = 60_000

/** Returns why the segment, or a part of it, was dropped. */
export function receiveSegment(connection: Connection, segment: Segment, now: number): DropReason | undefined {
  connection.host.markDirty(connection)
  if (connection.state === 'syn-sent') return receiveInSynSent(connection, segment, now)
  return receiveSynchronized(connection, segment, now)
}

/** RFC 9293 §3.10.7.3. */
function receiveInSynSent(connection: Connection, segment: Segment, now: number): DropReason | undefined {
  const hasAck = (segment.flags & ACK) !== 0
  if (hasAck && segment.acknowledgment !== connection.sendNext) {
    if ((segment.flags & RST) === 0) refuse(connection.host, segment, connection.remoteAddress)
    return 'bad-acknowledgment'
  }
  if ((segment.flags & RST) !== 0) {
    if (!hasAck) return 'bad-acknowledgment'
    connection.finish('refused')
    return undefined
  }
  if ((segment.flags & SYN) === 0) return 'out-of-window'
  connection.negotiate(segment)
  connection.lastHeardAt = now
  if (!hasAck) {
    // A simultaneous open (RFC 9293 §3.5, figure 8).
    connection.state = 'syn-received'
    connection.synDue = true
    return undefined
  }
  connection.sendWindow = connection.maxSendWindow = segment.window
  connection.windowUpdateSequence = segment.sequence
  connection.windowUpdateAcknowledgment = segment.acknowledgment
  establish(connection, segment, now)
  connection.ackDue = true
  return undefined
}

/** RFC 9293 §3.10.7.4. */
function receiveSynchronized(connection: Connection, segment: Segment, now: number): DropReason | undefined {
  const { flags } = segment
  let { sequence } = segment
  const { payload } = segment
  const isHandshake = connection.state === 'syn-received'

  const stale = checkTimestamp(connection, segment, now)
  if (stale !== undefined) return stale
  if (isHandshake && (flags & SYN) !== 0 && (flags & RST) === 0 && sequence === connection.initialReceiveSequence) {
    if ((flags & ACK) === 0) {
      // The peer did not get our SYN-ACK.
      connection.synDue = true
      return undefined
    }
    // A simultaneous open: past its SYN this is an ordinary acknowledgment.
    sequence = advance(sequence, 1)
  } else if (!isAcceptable(connection, sequence, sequenceLength(segment))) {
    if ((flags & RST) !== 0) return 'out-of-window'
    // A repeated FIN means that our answer was lost (RFC 9293 §3.10.7.4, eighth check).
    if (connection.state === 'time-wait' && (flags & FIN) !== 0) connection.deadlines.expireAt = now + TIME_WAIT_MS
    if (payload.length > 0 && connection.sackPermitted && before(sequence, connection.receiveNext)) {
      const end = advance(sequence, payload.length)
      connection.receivedBlocks.noteDuplicate(
        sequence,
        after(end, connection.receiveNext) ? connection.receiveNext : end,
      )
    }
    // Its acknowledgment may still be new: our window may be closed to the peer while its is open to us.
    if (
      (flags & (ACK | SYN)) === ACK &&
      !isHandshake &&
      isAcknowledgmentAcceptable(connection, segment.acknowledgment)
    ) {
      noteHeard(connection, now)
      acknowledge(connection, segment, now)
      if (!afterOurFin(connection, now)) return undefined
    }
    // Two sides that disagree must not answer each other's bare acknowledgments endlessly.
    if (sequenceLength(segment) === 0) challenge(connection, now)
    else connection.ackDue = true
    return 'out-of-window'
  } else if ((flags & RST) !== 0) return receiveReset(connection, sequence, now)
  else if ((flags & SYN) !== 0) {
    // RFC 5961 §4.2: a real restart of the peer answers the challenge with a reset.
    challenge(connection, now)
    return 'challenged'
  }

  if ((flags & ACK) === 0) return 'bad-acknowledgment'
  if (isHandshake) {
    if (
      !after(segment.acknowledgment, connection.unacknowledged) ||
      after(segment.acknowledgment, connection.sendNext)
    ) {
      refuse(connection.host, segment, connection.remoteAddress)
      return 'bad-acknowledgment'
    }
    connection.sendWindow = connection.maxSendWindow =
      (flags & SYN) !== 0 ? segment.window : segment.window << connection.sendScale
    connection.windowUpdateSequence = sequence
    connection.windowUpdateAcknowledgment = segment.acknowledgment
    establish(connection, segment, now)
  } else if (!isAcknowledgmentAcceptable(connection, segment.acknowledgment)) {
    challenge(connection, now)
    return 'bad-acknowledgment'
  }
  if (segment.timestamp !== undefined && !after(segment.sequence, connection.lastAcknowledgment))
    connection.timestamps?.note(segment.timestamp, now)
  noteHeard(connection, now)
  acknowledge(connection, segment, now)
  if (!afterOurFin(connection, now)) return undefined
  const isFin = (flags & FIN) !== 0
  return payload.length > 0 || isFin ? receivePayload(connection, { sequence, payload, isFin }, now) : undefined
}

/** RFC 7323 §5.3 R1 (PAWS), and §3.2 for a segment that lacks what both sides agreed on. Does not apply to resets. */
function checkTimestamp(connection: Connection, segment: Segment, now: number): DropReason | undefined {
  const { timestamps } = connection
  if (timestamps === undefined || (segment.flags & (RST | SYN)) !== 0) return undefined
  if (segment.timestamp === undefined) return 'no-timestamp'
  if (!timestamps.isOld(segment.timestamp, now)) return undefined
  if (sequenceLength(segment) === 0) challenge(connection, now)
  else connection.ackDue = true
  return 'old-timestamp'
}

function noteHeard(connection: Connection, now: number): void {
  connection.lastHeardAt = connection.silentSince = now
  connection.keepaliveProbes = 0
}

/** RFC 9293 §3.10.7.4, first check; a FIN or an acknowledgment at the edge of a closed window is let through. */
function isAcceptable(connection: Connection, sequence: number, length: number): boolean {
  const { receiveNext } = connection
  const receiveEdge = connection.receiveWindow.edge
  if (length === 0) return sequence === receiveNext || (!before(sequence, receiveNext) && before(sequence, receiveEdge))
  if (sequence === receiveNext) return true
  return before(sequence, receiveEdge) && after(advance(sequence, length), receiveNext)
}

/** RFC 5961 §5.2. */
function isAcknowledgmentAcceptable(connection: Connection, acknowledgment: number): boolean {
  return (
    !after(acknowledgment, connection.sendNext) &&
    distance(connection.unacknowledged, acknowledgment) <= Math.max(connection.maxSendWindow, 0xffff)
  )
}

/** RFC 5961 §3.2: only the exact sequence number resets, another in the window is challenged. */
function receiveReset(connection: Connection, sequence: number, now: number): DropReason | undefined {
  if (sequence !== connection.receiveNext) {
    challenge(connection, now)
    return 'challenged'
  }
  // RFC 1337: TIME-WAIT is not to be cut short by a stray reset.
  if (connection.state === 'time-wait') return 'challenged'
  connection.finish(connection.state === 'syn-received' && !connection.isPassive ? 'refused' : 'reset')
  return undefined
}

function challenge(connection: Connection, now: number): void {
  if (connection.challenges.take(now)) sendAck(connection)
}

function establish(connection: Connection, segment: Segment, now: number): void {
  connection.state = 'established'
  connection.unacknowledged = advance(connection.initialSendSequence, 1)
  connection.deadlines.retransmitAt = Infinity
  if (!connection.isOrphan) connection.deadlines.expireAt = Infinity
  noteHeard(connection, now)
  connection.synDue = false
  connection.settle()
  if (connection.keepaliveMs !== undefined) connection.deadlines.keepaliveAt = now + connection.keepaliveMs
  timeHandshake(connection, segment, now)
  updateSendWindow(connection, segment)
  connection.host.emit({ type: connection.isPassive ? 'accepted' : 'connected', connection })
}

/**
 * A SYN that was sent twice gives no sample (Karn), unless the echo is that of the last one. The echo of an earlier one
 * only shows when that was sent: its answer may have been lost, and this may be the answer to all of them.
 */
function timeHandshake(connection: Connection, { timestampEcho }: Segment, now: number): void {
  const { roundTrip, synTransmissions } = connection
  const sinceLastMs = now - connection.lastSentAt
  const echoedMs = connection.timestamps?.roundTripMs(timestampEcho, now)
  if (synTransmissions === 1) roundTrip.sample(sinceLastMs, now)
  else if (echoedMs !== undefined && echoedMs <= sinceLastMs + 1) roundTrip.sample(echoedMs, now)
  else roundTrip.beginUntimed()
  // RFC 6928 §2: more than one was lost, which is no coincidence.
  if (synTransmissions > 2) connection.congestion.onTimeout(0, false)
}

function isOpen(connection: Connection): boolean {
  return connection.state !== 'closed'
}

/**
 * RFC 9293 §3.10.7.4, fifth check: the effects of the acknowledgment of our FIN. Returns false when the segment needs
 * no further processing.
 */
function afterOurFin(connection: Connection, now: number): boolean {
  const isFinAcknowledged = connection.isFinSent && connection.unacknowledged === connection.sendNext
  if (!isFinAcknowledged) return isOpen(connection)
  switch (connection.state) {
    case 'fin-wait-1':
      connection.state = 'fin-wait-2'
      return true
    case 'closing':
      enterTimeWait(connection, now)
      return false
    case 'last-ack':
      connection.finish(undefined)
      return false
    default:
      return true
  }
}

function receivePayload(
  connection: Connection,
  arrived: { sequence: number; payload: Uint8Array; isFin: boolean },
  now: number,
): DropReason | undefined {
  const { sequence, isFin } = arrived
  let { payload } = arrived
  const { state } = connection
  if (state !== 'established' && state !== 'fin-wait-1' && state !== 'fin-wait-2') {
    // After the peer's FIN there can be no more (RFC 9293 §3.10.7.4, seventh check).
    connection.ackDue = true
    return undefined
  }
  if (connection.isOrphan && payload.length > 0 && state === 'fin-wait-2') {
    // Nobody will read this, and the peer has all our data (RFC 9293 §3.6.1).
    sendReset(connection)
    connection.finish(undefined)
    return undefined
  }
  if (isFin && connection.finSequence === undefined) connection.finSequence = advance(sequence, payload.length)
  // Trim to the window on the right and to the FIN.
  const limit =
    connection.finSequence !== undefined && before(connection.finSequence, connection.receiveWindow.edge)
      ? connection.finSequence
      : connection.receiveWindow.edge
  const excess = distance(advance(sequence, payload.length), limit)
  if (excess > 0) {
    payload = payload.subarray(0, Math.max(0, payload.length - excess))
    connection.ackDue = true
  }
  const reason = payload.length > 0 ? insert(connection, sequence, payload) : undefined
  connection.receiveNext = connection.reassembly.next
  if (connection.finSequence !== undefined) {
    connection.ackDue = true
    if (after(connection.receiveNext, connection.finSequence)) {
      // Bytes beyond the end of the stream: the peer contradicts itself.
      sendReset(connection)
      connection.finish('reset')
      return 'bad-segment'
    }
    if (connection.receiveNext === connection.finSequence) receiveFin(connection, now)
  }
  if (connection.reassembly.readyBytes > 0) connection.announceReadable()
  return reason
}

function insert(connection: Connection, sequence: number, payload: Uint8Array): DropReason | undefined {
  const { reassembly, receivedBlocks } = connection
  const hadGap = reassembly.hasGap
  const isInOrder = !after(sequence, reassembly.next)
  const isRefused = (receivedBlocks.isFull && !isInOrder) || !connection.host.mayKeep(connection, isInOrder)
  const held = isRefused ? 'full' : reassembly.insert(sequence, payload)
  if (hadGap || !isInOrder) connection.host.noteKept(connection)
  if (payload.length > connection.largestReceived) connection.largestReceived = payload.length
  if (held === 'full') {
    connection.ackDue = true
    return 'reassembly-full'
  }
  if (held === 'in-order') {
    connection.unackedBytes += payload.length
    if (!hadGap) return undefined
    // A gap was filled, in part or whole: acknowledge at once (RFC 5681 §4.2).
    receivedBlocks.advanceTo(reassembly.next)
    connection.ackDue = true
    return undefined
  }
  if (held === 'duplicate') {
    if (connection.sackPermitted) receivedBlocks.noteDuplicate(sequence, advance(sequence, payload.length))
  } else receivedBlocks.add(held.start, held.end)
  connection.ackDue = true
  // A peer without SACK counts duplicate acknowledgments, so each must go out by itself (RFC 5681 §4.2).
  if (!connection.sackPermitted) sendAck(connection)
  return undefined
}

/** RFC 9293 §3.10.7.4, eighth check. */
function receiveFin(connection: Connection, now: number): void {
  connection.receiveNext = advance(connection.receiveNext, 1)
  connection.ackDue = true
  switch (connection.state) {
    case 'established':
      connection.state = 'close-wait'
      break
    case 'fin-wait-1':
      connection.state = 'closing'
      break
    case 'fin-wait-2':
      enterTimeWait(connection, now)
      break
  }
  connection.announceReadable()
}

function enterTimeWait(connection: Connection, now: number): void {
  connection.state = 'time-wait'
  connection.deadlines.clear()
  connection.deadlines.expireAt = now + TIME_WAIT_MS
  connection.sendBuffer.clear()
  connection.host.noteTimeWait(connection)
}
