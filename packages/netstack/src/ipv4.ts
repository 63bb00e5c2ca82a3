/**
 * The IPv4 header (RFC 791 §3.1).
 *
 *   0  version 4, header length in words   8  time to live
 *   1  type of service                     9  protocol
 *   2  total length                       10  header checksum
 *   4  identification                     12  source
 *   6  flags, fragment offset             16  destination
 *
 * Options are skipped. Packets that we send carry none and have Don't Fragment set, so their identification may stay 0
 * (RFC 6864 §4.1).
 */
import { foldChecksum, sumAddress, sumWords } from './checksum.ts'
import type { DropReason } from './drop.ts'

export const PROTOCOL_ICMP = 1
export const PROTOCOL_TCP = 6
export const IPV4_HEADER_BYTES = 20

const DONT_FRAGMENT = 0x4000
const MORE_FRAGMENTS = 0x2000
const TIME_TO_LIVE = 64

/** A parsed header; `payloadStart` and `payloadEnd` are offsets in the packet. */
export interface Ipv4Header {
  source: number
  destination: number
  protocol: number
  identification: number
  /** Offset of this fragment in its datagram, in bytes. */
  fragmentOffset: number
  moreFragments: boolean
  payloadStart: number
  payloadEnd: number
}

export const readUint16 = (bytes: Uint8Array, at: number): number => (bytes[at]! << 8) | bytes[at + 1]!

export const readUint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0

export function writeUint16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8
  bytes[at + 1] = value
}

export function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

/** Parses the header of a packet; bytes past its total length (padding) are outside the payload. */
export function parseIpv4(packet: Uint8Array): Ipv4Header | DropReason {
  if (packet.length < IPV4_HEADER_BYTES) return 'short-packet'
  if (packet[0]! >>> 4 !== 4) return 'not-ipv4'
  const headerBytes = (packet[0]! & 15) * 4
  const totalBytes = readUint16(packet, 2)
  if (headerBytes < IPV4_HEADER_BYTES || totalBytes < headerBytes || totalBytes > packet.length) return 'bad-ip-header'
  if (foldChecksum(sumWords(packet, 0, headerBytes)) !== 0) return 'bad-ip-checksum'
  const fragment = readUint16(packet, 6)
  return {
    source: readUint32(packet, 12),
    destination: readUint32(packet, 16),
    protocol: packet[9]!,
    identification: readUint16(packet, 4),
    fragmentOffset: (fragment & 0x1fff) * 8,
    moreFragments: (fragment & MORE_FRAGMENTS) !== 0,
    payloadStart: headerBytes,
    payloadEnd: totalBytes,
  }
}

/** Writes a 20-byte header over the start of `packet`, whose whole length becomes the total length. */
export function writeIpv4Header(packet: Uint8Array, source: number, destination: number, protocol: number): void {
  packet[0] = 0x45
  packet[1] = 0
  writeUint16(packet, 2, packet.length)
  writeUint16(packet, 4, 0)
  writeUint16(packet, 6, DONT_FRAGMENT)
  packet[8] = TIME_TO_LIVE
  packet[9] = protocol
  writeUint16(packet, 10, 0)
  writeUint32(packet, 12, source)
  writeUint32(packet, 16, destination)
  const sum = 0x4500 + packet.length + DONT_FRAGMENT + ((TIME_TO_LIVE << 8) | protocol)
  writeUint16(packet, 10, foldChecksum(sum + sumAddress(source) + sumAddress(destination)))
}

/** Reads dotted decimal, strictly: four numbers without leading zeros. Undefined for anything else. */
export function parseAddress(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  let address = 0
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined
    address = address * 256 + Number(part)
  }
  return address
}

export const formatAddress = (address: number): string =>
  `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`

/**
 * Whether one host may have this address: not "this network", loopback, multicast, reserved or broadcast (RFC 1122
 * §3.2.1.3).
 */
export function isUnicast(address: number): boolean {
  const first = address >>> 24
  return first !== 0 && first !== 127 && first < 224
}
