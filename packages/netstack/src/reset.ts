import type { Connection } from './connection.ts'
import type { Host } from './host.ts'
import { ACK, RST, type Segment, encodeSegment, sequenceLength } from './segment.ts'
import { advance } from './sequence.ts'

/**
 * Answers a segment that belongs to no connection, or acknowledges unsent data, with a reset that the peer must accept:
 * <SEQ=SEG.ACK><CTL=RST>, or <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK> (RFC 9293 §3.10.7.1).
 */
export function refuse(host: Host<Connection>, segment: Segment, source: number): void {
  const hasAck = (segment.flags & ACK) !== 0
  const packet = encodeSegment(
    {
      source: host.address,
      destination: source,
      sourcePort: segment.destinationPort,
      destinationPort: segment.sourcePort,
      sequence: hasAck ? segment.acknowledgment : 0,
      acknowledgment: hasAck ? 0 : advance(segment.sequence, sequenceLength(segment)),
      flags: hasAck ? RST : RST | ACK,
      window: 0,
    },
    host.allocate,
  )
  host.emit({ type: 'packet', packet })
}
