/**
 * ICMP (RFC 792): echo both ways, and destination unreachable as a hint about our own packets.
 *
 *   0  type   1  code   2  checksum   4  identifier, sequence number (echo) | unused, next-hop MTU (unreachable)
 *   8  data (echo) | the IPv4 header and first bytes of the packet that failed (unreachable)
 */
import { foldChecksum, sumWords } from './checksum.ts'
import {
  IPV4_HEADER_BYTES,
  PROTOCOL_ICMP,
  PROTOCOL_TCP,
  readUint16,
  readUint32,
  writeIpv4Header,
  writeUint16,
  writeUint32,
} from './ipv4.ts'

const ECHO_REPLY = 0
const DESTINATION_UNREACHABLE = 3
const ECHO_REQUEST = 8
const ICMP_HEADER_BYTES = 8

export type IcmpMessage =
  | { type: 'echo-request'; data: Uint8Array }
  | { type: 'echo-reply'; identifier: number; sequence: number }
  | {
      type: 'unreachable'
      code: number
      /** RFC 1191 §4; 0 when the router left it out. */
      nextHopMtu: number
      /** From the TCP packet of ours that is quoted. */
      source: number
      destination: number
      sourcePort: number
      destinationPort: number
      sequence: number
    }

/** Parses `packet[start, end)`; undefined for what is malformed or of no use here. */
export function parseIcmp(packet: Uint8Array, start: number, end: number): IcmpMessage | undefined {
  if (end - start < ICMP_HEADER_BYTES || foldChecksum(sumWords(packet, start, end)) !== 0) return undefined
  const type = packet[start]!
  if (type === ECHO_REQUEST && packet[start + 1] === 0)
    return { type: 'echo-request', data: packet.subarray(start + 4, end) }
  if (type === ECHO_REPLY && packet[start + 1] === 0) {
    return { type: 'echo-reply', identifier: readUint16(packet, start + 4), sequence: readUint16(packet, start + 6) }
  }
  if (type !== DESTINATION_UNREACHABLE) return undefined
  const quoted = start + ICMP_HEADER_BYTES
  if (end - quoted < IPV4_HEADER_BYTES + 8 || packet[quoted]! >>> 4 !== 4 || packet[quoted + 9] !== PROTOCOL_TCP)
    return undefined
  const segment = quoted + (packet[quoted]! & 15) * 4
  if (segment < quoted + IPV4_HEADER_BYTES || end - segment < 8) return undefined
  return {
    type: 'unreachable',
    code: packet[start + 1]!,
    nextHopMtu: readUint16(packet, start + 6),
    source: readUint32(packet, quoted + 12),
    destination: readUint32(packet, quoted + 16),
    sourcePort: readUint16(packet, segment),
    destinationPort: readUint16(packet, segment + 2),
    sequence: readUint32(packet, segment + 4),
  }
}

/**
 * `rest` is everything after the checksum: identifier, sequence number and data, returned as they came (RFC 1122
 * §3.2.2.6).
 */
export function encodeEchoReply(source: number, destination: number, rest: Uint8Array): Uint8Array {
  return encode(source, destination, ECHO_REPLY, 0, rest)
}

export function encodeEchoRequest(
  source: number,
  destination: number,
  identifier: number,
  sequence: number,
): Uint8Array {
  const rest = new Uint8Array(4)
  writeUint16(rest, 0, identifier)
  writeUint16(rest, 2, sequence)
  return encode(source, destination, ECHO_REQUEST, 0, rest)
}

/**
 * Informs the sender of `packet` that nothing here accepts it, quoting its header and eight bytes more (RFC 792, RFC
 * 1122 §3.2.2.1); with fragmentation needed, how long a packet may be (RFC 1191 §4).
 */
export function encodeUnreachable(
  source: number,
  destination: number,
  code: number,
  packet: Uint8Array,
  nextHopMtu = 0,
): Uint8Array {
  const quoted = packet.subarray(0, Math.min(packet.length, (packet[0]! & 15) * 4 + 8))
  const rest = new Uint8Array(4 + quoted.length)
  writeUint16(rest, 2, nextHopMtu)
  rest.set(quoted, 4)
  return encode(source, destination, DESTINATION_UNREACHABLE, code, rest)
}

function encode(source: number, destination: number, type: number, code: number, rest: Uint8Array): Uint8Array {
  const packet = new Uint8Array(IPV4_HEADER_BYTES + 4 + rest.length)
  writeIpv4Header(packet, source, destination, PROTOCOL_ICMP)
  writeUint32(packet, IPV4_HEADER_BYTES, (type << 24) | (code << 16))
  packet.set(rest, IPV4_HEADER_BYTES + 4)
  writeUint16(packet, IPV4_HEADER_BYTES + 2, foldChecksum(sumWords(packet, IPV4_HEADER_BYTES, packet.length)))
  return packet
}
