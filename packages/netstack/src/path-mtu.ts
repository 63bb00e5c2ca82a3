/**
 * The length of segments that the path carries: no longer than an ICMP error says (RFC 1191), and where long ones are
 * dropped silently, as short as every path carries (RFC 4821 §7.7). An interrupted path looks the same, so once it
 * works again, single segments of the former length probe it (RFC 4821 §7.3).
 */
import type { Connection } from './connection.ts'
import type { SentSegment } from './retransmission.ts'
import { distance } from './sequence.ts'

const BLACK_HOLE_TIMEOUTS = 3
/** The minimum MTUs of IPv6 and of IPv4. */
const BLACK_HOLE_MTUS = [1280, 576]
/** RFC 8899 §5.1.2: MAX_PROBES. A single one may be lost by chance. */
const MAX_PROBES = 3
const TCP_IP_HEADER_BYTES = 40

/** The path's MTU shrank: longer segments in flight are lost, and will be resent in parts (RFC 1191 §6.4). */
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

/** At a repeated timeout: if only long segments are lost, shorter ones get through. */
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

/** Whether an unsent segment of `room` bytes may be a longer one, to probe the path. */
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

/** The probe has arrived: in one piece unless it was sent again, because that is done in parts. */
export function endLengthProbe(connection: Connection, segment: SentSegment): void {
  connection.lengthProbeAt = undefined
  if (!segment.retransmitted) {
    connection.segmentBytes = connection.longerSegmentBytes
    connection.longerSegmentBytes = 0
  } else if (connection.lengthProbes >= MAX_PROBES) connection.longerSegmentBytes = 0
}
