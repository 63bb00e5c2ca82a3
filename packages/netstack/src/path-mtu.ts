/**
 * How long a segment the path takes: no longer than an ICMP error says (RFC 1191), and where long ones vanish without a
 * word, as short as everything carries (RFC 4821 §7.7). A path that was only interrupted looks the same, so once it
 * carries again, single segments of the length from before ask whether it still takes them (RFC 4821 §7.3).
 */
import type { Connection } from './connection.ts'
import type { SentSegment } from './retransmission.ts'
import { distance } from './sequence.ts'

const BLACK_HOLE_TIMEOUTS = 3
/** What IPv6 guarantees, and what IPv4 does. */
const BLACK_HOLE_MTUS = [1280, 576]
/** RFC 8899 §5.1.2: MAX_PROBES. One alone may be lost to chance. */
const MAX_PROBES = 3
const TCP_IP_HEADER_BYTES = 40

/** The path takes less than it did: what is in flight and longer is lost, and will leave in parts (RFC 1191 §6.4). */
export function limitSegments(connection: Connection, mtu: number): void {
  const segmentBytes = mtu - TCP_IP_HEADER_BYTES - connection.optionBytes
  connection.longerSegmentBytes = Math.min(connection.longerSegmentBytes, segmentBytes)
  if (segmentBytes >= connection.segmentBytes) return
  connection.segmentBytes = segmentBytes
  connection.queue.forEach((segment) => {
    if (distance(segment.end, segment.start) > segmentBytes) connection.queue.markLost(segment)
    return true
  })
}

/** At a repeated timeout: if long segments are what vanishes, shorter ones go through. */
export function narrowBlackHole(connection: Connection): void {
  const first = connection.queue.firstUnsacked
  if (connection.roundTrip.timeouts < BLACK_HOLE_TIMEOUTS || first === undefined) return
  const packetBytes = TCP_IP_HEADER_BYTES + connection.optionBytes + distance(first.end, first.start)
  const narrower = BLACK_HOLE_MTUS.find((mtu) => mtu < packetBytes)
  if (narrower === undefined) return
  const longest = Math.max(connection.longerSegmentBytes, connection.segmentBytes)
  limitSegments(connection, narrower)
  connection.longerSegmentBytes = longest
  connection.lengthProbes = 0
}

/** Whether a segment of `room` bytes that was never sent may be a longer one, to ask whether the path takes it. */
export function isLengthProbeDue(connection: Connection, room: number): boolean {
  const { longerSegmentBytes } = connection
  return (
    longerSegmentBytes > connection.segmentBytes &&
    room >= longerSegmentBytes &&
    connection.lengthProbeAt === undefined &&
    connection.recovery === 'none'
  )
}

export function noteLengthProbe(connection: Connection, segment: SentSegment): void {
  connection.lengthProbeAt = segment.start
  connection.lengthProbes++
}

/** The segment that asked has arrived: in one piece unless it was sent again, since that is done in parts. */
export function endLengthProbe(connection: Connection, segment: SentSegment): void {
  connection.lengthProbeAt = undefined
  if (!segment.retransmitted) {
    connection.segmentBytes = connection.longerSegmentBytes
    connection.longerSegmentBytes = 0
  } else if (connection.lengthProbes >= MAX_PROBES) connection.longerSegmentBytes = 0
}
