/**
 * The TCP segment (RFC 9293 §3.1).
 *
 *   0  source port             12  data offset in words, reserved
 *   2  destination port        13  flags
 *   4  sequence number         14  window
 *   8  acknowledgment number   16  checksum
 *                              18  urgent pointer (ignored), then options
 *
 * Options read and written: maximum segment size (2), window scale (3, RFC 7323 §2.2), SACK permitted (4), SACK blocks
 * (5, RFC 2018 §2, §3) and timestamps (8, RFC 7323 §3.2). Others are skipped by their length; a length that makes no
 * sense refuses the segment.
 */
import { foldChecksum, sumPseudoHeader, sumWords } from './checksum.ts'
import type { DropReason } from './drop.ts'
import {
  IPV4_HEADER_BYTES,
  PROTOCOL_TCP,
  readUint16,
  readUint32,
  writeIpv4Header,
  writeUint16,
  writeUint32,
} from './ipv4.ts'
import { TIMESTAMP_BYTES } from './timestamps.ts'

export const FIN = 1
export const SYN = 2
export const RST = 4
export const PSH = 8
export const ACK = 16
/** Read and ignored: urgent data is data (RFC 6093 §5). */
export const URG = 32

export const TCP_HEADER_BYTES = 20
const MAX_WINDOW_SCALE = 14

/** Sequence range `[start, end)`. */
export interface Range {
  start: number
  end: number
}

export interface Segment {
  sourcePort: number
  destinationPort: number
  sequence: number
  acknowledgment: number
  flags: number
  /** As on the wire: not yet scaled. */
  window: number
  mss: number | undefined
  windowScale: number | undefined
  sackPermitted: boolean
  sack: readonly Range[]
  /** TSval and TSecr; undefined without the option. */
  timestamp: number | undefined
  timestampEcho: number
  /** A view into the packet. */
  payload: Uint8Array
}

const NO_RANGES: readonly Range[] = []

/**
 * Parses the segment in `packet[start, end)`; the addresses are those of the IPv4 header, for the checksum, which is
 * looked at unless told not to be.
 */
export function parseSegment(
  packet: Uint8Array,
  ip: { source: number; destination: number; payloadStart: number; payloadEnd: number },
  { isAuthenticated = false }: { isAuthenticated?: boolean } = {},
): Segment | DropReason {
  const start = ip.payloadStart
  const end = ip.payloadEnd
  if (end - start < TCP_HEADER_BYTES) return 'bad-segment'
  const payloadStart = start + (packet[start + 12]! >>> 4) * 4
  if (payloadStart < start + TCP_HEADER_BYTES || payloadStart > end) return 'bad-segment'
  if (!isAuthenticated) {
    const pseudo = sumPseudoHeader(ip.source, ip.destination, PROTOCOL_TCP, end - start)
    if (foldChecksum(sumWords(packet, start, end, pseudo)) !== 0) return 'bad-tcp-checksum'
  }
  const segment: Segment = {
    sourcePort: readUint16(packet, start),
    destinationPort: readUint16(packet, start + 2),
    sequence: readUint32(packet, start + 4),
    acknowledgment: readUint32(packet, start + 8),
    flags: packet[start + 13]! & 0x3f,
    window: readUint16(packet, start + 14),
    mss: undefined,
    windowScale: undefined,
    sackPermitted: false,
    sack: NO_RANGES,
    timestamp: undefined,
    timestampEcho: 0,
    payload: packet.subarray(payloadStart, end),
  }
  if (segment.sourcePort === 0 || segment.destinationPort === 0) return 'bad-segment'
  return readOptions(packet, start + TCP_HEADER_BYTES, payloadStart, segment) ? segment : 'bad-segment'
}

function readOptions(packet: Uint8Array, start: number, end: number, segment: Segment): boolean {
  for (let at = start; at < end;) {
    const kind = packet[at]!
    if (kind === 0) return true
    if (kind === 1) {
      at++
      continue
    }
    const length = at + 1 < end ? packet[at + 1]! : 0
    if (length < 2 || at + length > end) return false
    if (kind === 2 && length === 4) segment.mss = readUint16(packet, at + 2)
    else if (kind === 3 && length === 3) segment.windowScale = Math.min(packet[at + 2]!, MAX_WINDOW_SCALE)
    else if (kind === 4 && length === 2) segment.sackPermitted = true
    else if (kind === 5 && length >= 10 && (length - 2) % 8 === 0) {
      const ranges: Range[] = []
      for (let block = at + 2; block < at + length; block += 8) {
        ranges.push({ start: readUint32(packet, block), end: readUint32(packet, block + 4) })
      }
      segment.sack = ranges
    } else if (kind === 8 && length === 10) {
      segment.timestamp = readUint32(packet, at + 2)
      segment.timestampEcho = readUint32(packet, at + 6)
    }
    at += length
  }
  return true
}

/** What `encodeSegment` writes; options are written only when given. */
export interface OutgoingSegment {
  source: number
  destination: number
  sourcePort: number
  destinationPort: number
  sequence: number
  acknowledgment: number
  flags: number
  window: number
  mss?: number | undefined
  windowScale?: number | undefined
  sackPermitted?: boolean
  /** At most four, three with timestamps (RFC 2018 §3). */
  sack?: readonly Range[] | undefined
  timestamp?: number | undefined
  timestampEcho?: number
  payload?: Uint8Array | undefined
}

/** Builds the whole IPv4 packet in a buffer from `allocate`; nothing else refers to that buffer. */
export function encodeSegment(segment: OutgoingSegment, allocate: (length: number) => Uint8Array): Uint8Array {
  const sackBytes = segment.sack !== undefined && segment.sack.length > 0 ? 4 + 8 * segment.sack.length : 0
  const optionBytes =
    (segment.mss === undefined ? 0 : 4) +
    (segment.windowScale === undefined ? 0 : 4) +
    (segment.sackPermitted === true ? 4 : 0) +
    (segment.timestamp === undefined ? 0 : TIMESTAMP_BYTES) +
    sackBytes
  const payloadStart = IPV4_HEADER_BYTES + TCP_HEADER_BYTES + optionBytes
  const packet = allocate(payloadStart + (segment.payload?.length ?? 0))
  writeIpv4Header(packet, segment.source, segment.destination, PROTOCOL_TCP)
  writeUint16(packet, 20, segment.sourcePort)
  writeUint16(packet, 22, segment.destinationPort)
  writeUint32(packet, 24, segment.sequence)
  writeUint32(packet, 28, segment.acknowledgment)
  packet[32] = ((TCP_HEADER_BYTES + optionBytes) / 4) << 4
  packet[33] = segment.flags
  writeUint16(packet, 34, segment.window)
  writeUint32(packet, 36, 0)
  if (optionBytes > 0) writeOptions(packet, segment)
  if (segment.payload !== undefined) packet.set(segment.payload, payloadStart)
  const pseudo = sumPseudoHeader(segment.source, segment.destination, PROTOCOL_TCP, packet.length - IPV4_HEADER_BYTES)
  writeUint16(packet, 36, foldChecksum(sumWords(packet, IPV4_HEADER_BYTES, packet.length, pseudo)))
  return packet
}

function writeOptions(packet: Uint8Array, segment: OutgoingSegment): void {
  let at = IPV4_HEADER_BYTES + TCP_HEADER_BYTES
  if (segment.mss !== undefined) {
    writeUint32(packet, at, (2 << 24) | (4 << 16) | segment.mss)
    at += 4
  }
  if (segment.windowScale !== undefined) {
    writeUint32(packet, at, (1 << 24) | (3 << 16) | (3 << 8) | segment.windowScale)
    at += 4
  }
  if (segment.sackPermitted === true) {
    writeUint32(packet, at, (1 << 24) | (1 << 16) | (4 << 8) | 2)
    at += 4
  }
  if (segment.timestamp !== undefined) {
    writeUint32(packet, at, (1 << 24) | (1 << 16) | (8 << 8) | 10)
    writeUint32(packet, at + 4, segment.timestamp)
    writeUint32(packet, at + 8, segment.timestampEcho ?? 0)
    at += TIMESTAMP_BYTES
  }
  if (segment.sack === undefined || segment.sack.length === 0) return
  writeUint32(packet, at, (1 << 24) | (1 << 16) | (5 << 8) | (2 + 8 * segment.sack.length))
  at += 4
  for (const range of segment.sack) {
    writeUint32(packet, at, range.start)
    writeUint32(packet, at + 4, range.end)
    at += 8
  }
}

/** The length of a segment in sequence space: SYN and FIN count one each (RFC 9293 §3.4). */
export const sequenceLength = (segment: Segment): number =>
  segment.payload.length + ((segment.flags & SYN) !== 0 ? 1 : 0) + ((segment.flags & FIN) !== 0 ? 1 : 0)
