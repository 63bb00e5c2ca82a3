/**
 * Applies an acknowledgment to the data in flight: the send window (RFC 9293 §3.10.7.4, fifth check), loss detection by
 * RACK, or by duplicates for peers without SACK (RFC 5681 §3.2, RFC 6582), and the congestion window.
 */
import { type Connection, ORPHAN_MS } from './connection.ts'
import { endLengthProbe } from './path-mtu.ts'
import type { SentSegment } from './retransmission.ts'
import { markSacked } from './sack.ts'
import { FIN, SYN, type Segment } from './segment.ts'
import { after, before, distance } from './sequence.ts'

const DUPLICATE_THRESHOLD = 3

/** Applies the acknowledgment, window and SACK blocks of an acceptable segment. */
export function acknowledge(connection: Connection, segment: Segment, now: number): void {
  const { queue, rack, roundTrip } = connection
  const acknowledged = distance(segment.acknowledgment, connection.unacknowledged)
  const windowBefore = connection.sendWindow
  if (acknowledged >= 0) updateSendWindow(connection, segment)

  const pipeBefore = queue.pipe
  let hasDuplicate = false
  let newestSentAt = -Infinity
  let deliveredBytes = 0
  let isAnswerToRetransmission = false
  let resentAt = Infinity
  const delivered = (sent: SentSegment): void => {
    deliveredBytes += distance(sent.end, sent.start)
    if (sent.retransmitted) {
      isAnswerToRetransmission = true
      resentAt = Math.min(resentAt, sent.sentAt)
    }
    // Data sent before a timeout may have arrived long ago; the answer to the retransmission only reports it.
    else if (sent.sentAt > newestSentAt && sent.sentAt >= connection.timedOutAt) newestSentAt = sent.sentAt
    if (sent.start === connection.lengthProbeAt) endLengthProbe(connection, sent)
    rack.noteDelivered(sent, now, roundTrip)
  }
  if (acknowledged > 0) advanceUnacknowledged(connection, segment.acknowledgment, delivered)
  if (connection.sackPermitted && segment.sack.length > 0) {
    const limits = {
      unacknowledged: connection.unacknowledged,
      sent: connection.sendNext,
      acknowledgment: segment.acknowledgment,
    }
    hasDuplicate = markSacked(queue, segment.sack, limits, delivered)
    if (hasDuplicate) {
      rack.noteDuplicate()
      undoSpuriousRecovery(connection, segment.sack[0]!.end)
    }
  }
  if (acknowledged > 0 && isAnswerToRetransmission) detectOvertaken(connection, segment)
  if (newestSentAt > -Infinity && !isAnswerToRetransmission) roundTrip.sample(now - newestSentAt, now)
  else if (deliveredBytes > 0) {
    roundTrip.endBackOff()
    if (acknowledged > 0) sampleEcho(connection, segment, resentAt, now)
  }
  endProbe(connection, hasDuplicate)

  if (connection.recovery !== 'none' && !before(connection.unacknowledged, connection.recoveryPoint)) {
    connection.recovery = 'none'
    connection.duplicateAcks = connection.queue.departedBytes = 0
    rack.noteRecoveryEnded()
  }
  if (connection.sackPermitted) detectLosses(connection, now)
  else countDuplicates(connection, segment, acknowledged, windowBefore)

  if (acknowledged > 0 || deliveredBytes > 0) {
    // RFC 6298 §5.2, §5.3; a selective acknowledgment also shows that the path works.
    connection.deadlines.retransmitAt = queue.isEmpty ? Infinity : now + roundTrip.timeoutMs
    if (connection.isOrphan && connection.deadlines.expireAt !== Infinity)
      connection.deadlines.expireAt = Math.max(connection.deadlines.expireAt, now + ORPHAN_MS)
  }
  if (deliveredBytes > 0) {
    // A window that was not filled says nothing about the path (RFC 7661 §4.1).
    if (connection.recovery !== 'fast' && pipeBefore * 2 >= connection.congestion.window) {
      connection.congestion.onAcknowledged({
        bytes: deliveredBytes,
        now,
        roundTripMs: roundTrip.latestMs,
        smoothedMs: roundTrip.smoothedMs,
        inFlight: queue.bytes,
      })
    }
    connection.probeDue = true
    connection.announceWritable()
  }
}

/**
 * The echo shows which transmission was answered (RFC 7323 §4.1), so even a segment sent twice gives a sample. An echo
 * older than the last transmission gives none: the answer to an earlier one was lost, and this echo only shows when
 * that was.
 */
function sampleEcho(connection: Connection, segment: Segment, resentAt: number, now: number): void {
  const roundTripMs = connection.timestamps?.roundTripMs(segment.timestampEcho, now)
  if (roundTripMs !== undefined && roundTripMs <= now - resentAt + 1) connection.roundTrip.sample(roundTripMs, now)
}

/** RFC 9293 §3.10.7.4: only a newer segment may change the window. */
export function updateSendWindow(connection: Connection, segment: Segment): void {
  const isNewer =
    before(connection.windowUpdateSequence, segment.sequence) ||
    (connection.windowUpdateSequence === segment.sequence &&
      !after(connection.windowUpdateAcknowledgment, segment.acknowledgment))
  if (!isNewer || (segment.flags & SYN) !== 0) return
  const wasClosed = connection.sendWindow === 0
  connection.sendWindow = segment.window << connection.sendScale
  connection.maxSendWindow = Math.max(connection.maxSendWindow, connection.sendWindow)
  connection.windowUpdateSequence = segment.sequence
  connection.windowUpdateAcknowledgment = segment.acknowledgment
  if (!wasClosed || connection.sendWindow === 0) return
  // A small remainder is sent without the wait that the next probe would have had.
  connection.persistBackoff = 0
  connection.deadlines.persistAt = Infinity
}

/** Marks segments that RACK considers lost by `now`, and begins a recovery on the first loss (RFC 8985 §6.2). */
export function detectLosses(connection: Connection, now: number): void {
  const { queue } = connection
  connection.deadlines.reorderAt = connection.rack.detect(
    queue,
    now,
    connection.roundTrip,
    connection.recovery !== 'none',
  )
  if (queue.lostBytes > 0) enterRecovery(connection)
}

function advanceUnacknowledged(
  connection: Connection,
  acknowledgment: number,
  delivered: (sent: SentSegment) => void,
): void {
  connection.queue.acknowledge(acknowledgment, delivered)
  connection.unacknowledged = acknowledgment
  connection.sendBuffer.release(acknowledgment)
  connection.persistBackoff = 0
}

function enterRecovery(connection: Connection): void {
  if (connection.recovery !== 'none') return
  connection.recovery = 'fast'
  connection.recoveryPoint = connection.sendNext
  connection.isRetransmissionDue = true
  connection.deadlines.probeAt = Infinity
  beginUndo(connection)
  connection.congestion.onLoss(connection.queue.bytes)
}

/** Remembers the start of a recovery, in case it turns out to be spurious. */
export function beginUndo(connection: Connection): void {
  connection.undoFrom = connection.unacknowledged
  connection.undoTimestamp = undefined
  connection.undoCount = 0
}

/** When every retransmission of a recovery is reported as a duplicate, nothing was lost (RFC 3708 §2). */
function undoSpuriousRecovery(connection: Connection, duplicateEnd: number): void {
  if (connection.undoFrom === undefined || connection.undoCount === 0 || !after(duplicateEnd, connection.undoFrom))
    return
  if (--connection.undoCount > 0) return
  undoRecovery(connection)
}

/** The Eifel algorithm (RFC 3522 §3.2): the first transmission was answered, so the second was not needed. */
function detectOvertaken(connection: Connection, segment: Segment): void {
  const { undoTimestamp } = connection
  if (connection.undoFrom === undefined || undoTimestamp === undefined || segment.timestamp === undefined) return
  if (segment.timestampEcho === 0 || !before(segment.timestampEcho, undoTimestamp)) return
  connection.rack.noteDuplicate()
  undoRecovery(connection)
}

function undoRecovery(connection: Connection): void {
  connection.undoFrom = undefined
  connection.recovery = 'none'
  connection.queue.clearAllLost()
  connection.congestion.onSpurious()
}

/**
 * RFC 8985 §7.4.2: a probe that repaired a lost tail counts as one loss; a reported duplicate means that nothing was
 * lost.
 */
function endProbe(connection: Connection, hasDuplicate: boolean): void {
  const { probeEnd } = connection
  if (probeEnd === undefined || before(connection.unacknowledged, probeEnd)) return
  if (connection.isProbeRetransmission && !hasDuplicate) {
    if (connection.unacknowledged === probeEnd) return
    if (connection.recovery === 'none') connection.congestion.onLoss(connection.queue.bytes)
  }
  connection.probeEnd = undefined
}

/** RFC 5681 §3.2 and RFC 6582 §3.2, for a peer without SACK. */
function countDuplicates(connection: Connection, segment: Segment, acknowledged: number, windowBefore: number): void {
  const { queue } = connection
  const { first } = queue
  if (acknowledged > 0) {
    connection.duplicateAcks = 0
    // A partial acknowledgment: the next segment is lost too (RFC 6582 §3.2 step 3).
    if (connection.recovery === 'fast' && first !== undefined && !first.retransmitted) queue.markLost(first)
    queue.departedBytes = Math.max(0, queue.departedBytes - acknowledged)
    return
  }
  const isDuplicate =
    acknowledged === 0 &&
    first !== undefined &&
    segment.payload.length === 0 &&
    (segment.flags & (SYN | FIN)) === 0 &&
    connection.sendWindow === windowBefore
  if (!isDuplicate) return
  connection.duplicateAcks++
  if (connection.recovery === 'fast') queue.departedBytes += connection.segmentBytes
  if (connection.duplicateAcks !== DUPLICATE_THRESHOLD || connection.recovery !== 'none') return
  queue.markLost(first)
  enterRecovery(connection)
}
