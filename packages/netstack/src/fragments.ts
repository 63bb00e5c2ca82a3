/**
 * IPv4 reassembly (RFC 791 §3.2, RFC 815) with limits on datagrams in total and of one sender, on the pieces of each,
 * and on time. Overlapping pieces refuse the whole datagram (as RFC 5722 does for IPv6): no honest path makes them, and
 * the sender could choose which content counts. Called by `stack.ts`.
 */
import { foldChecksum, sumWords } from './checksum.ts'
import type { DropReason } from './drop.ts'
import { type Ipv4Header, readUint16, writeUint16 } from './ipv4.ts'

const MAX_DATAGRAMS = 64
const MAX_DATAGRAMS_PER_SENDER = 8
/** A datagram of full length in pieces of 1280. */
const MAX_PIECES = 64
const MAX_DATAGRAM_BYTES = 65_535
/** RFC 791 §3.2 suggests 15 s. */
const LIFETIME_MS = 15_000

interface Piece {
  start: number
  end: number
  bytes: Uint8Array
}

interface Datagram {
  sender: number
  expiresAt: number
  /** Sorted, disjoint. */
  pieces: Piece[]
  /** The first piece's header, with options. */
  header: Uint8Array | undefined
  /** Payload length, once the last piece is there. */
  length: number | undefined
  /** Refused; kept so that its other pieces do not start it anew. */
  isRefused: boolean
}

export class Fragments {
  /** In order of arrival, so the first expires first. */
  readonly #datagrams = new Map<string, Datagram>()

  /** When the oldest must go. */
  get deadline(): number {
    const [oldest] = this.#datagrams.values()
    return oldest === undefined ? Infinity : oldest.expiresAt
  }

  expire(now: number): void {
    for (const [key, datagram] of this.#datagrams) {
      if (datagram.expiresAt > now) return
      this.#datagrams.delete(key)
    }
  }

  /** Adds one fragment; returns the whole packet when it is complete, with the header of an unfragmented one. */
  insert(packet: Uint8Array, ip: Ipv4Header, now: number): Uint8Array | DropReason | undefined {
    const start = ip.fragmentOffset
    const length = ip.payloadEnd - ip.payloadStart
    const end = start + length
    if (length === 0 || (ip.moreFragments && length % 8 !== 0)) return 'bad-fragment'
    const headerBytes = ip.payloadStart
    if (end > MAX_DATAGRAM_BYTES - headerBytes) return 'bad-fragment'
    this.expire(now)
    const key = `${ip.source}/${ip.protocol}/${ip.identification}`
    const datagram = this.#datagrams.get(key) ?? this.#begin(key, ip.source, now)
    if (datagram.isRefused) return 'fragment-overlap'
    const index = datagram.pieces.findIndex((piece) => piece.end > start)
    const at = index === -1 ? datagram.pieces.length : index
    const following = datagram.pieces[at]
    // A duplicate from the path.
    if (following?.start === start && following.end === end) return undefined
    const isBeyondEnd =
      datagram.length !== undefined && (end > datagram.length || (!ip.moreFragments && end !== datagram.length))
    const last = datagram.pieces.at(-1)
    const isShortened = !ip.moreFragments && last !== undefined && last.end > end
    if ((following !== undefined && following.start < end) || isBeyondEnd || isShortened)
      return refuse(datagram, 'fragment-overlap')
    if (datagram.pieces.length >= MAX_PIECES) return refuse(datagram, 'bad-fragment')
    // Copies, so that small pieces cannot hold large buffers.
    datagram.pieces.splice(at, 0, { start, end, bytes: packet.slice(ip.payloadStart, ip.payloadEnd) })
    if (start === 0) datagram.header = packet.slice(0, headerBytes)
    if (!ip.moreFragments) datagram.length = end
    if (!isComplete(datagram)) return undefined
    this.#datagrams.delete(key)
    return join(datagram.header!, datagram.pieces, datagram.length!)
  }

  /** Drops a datagram to make room: of the same sender first, so that one sender cannot push out all others. */
  #begin(key: string, sender: number, now: number): Datagram {
    let ofSender = 0
    let oldestOfSender: string | undefined
    for (const [other, datagram] of this.#datagrams) {
      if (datagram.sender !== sender) continue
      oldestOfSender ??= other
      ofSender++
    }
    if (ofSender >= MAX_DATAGRAMS_PER_SENDER) this.#datagrams.delete(oldestOfSender!)
    else if (this.#datagrams.size >= MAX_DATAGRAMS) {
      const [oldest] = this.#datagrams.keys()
      this.#datagrams.delete(oldest!)
    }
    const datagram: Datagram = {
      sender,
      expiresAt: now + LIFETIME_MS,
      pieces: [],
      header: undefined,
      length: undefined,
      isRefused: false,
    }
    this.#datagrams.set(key, datagram)
    return datagram
  }
}

function refuse(datagram: Datagram, reason: DropReason): DropReason {
  datagram.isRefused = true
  datagram.pieces = []
  return reason
}

function isComplete({ pieces, length }: Datagram): boolean {
  let next = 0
  for (const piece of pieces) {
    if (piece.start !== next) return false
    next = piece.end
  }
  return length === next
}

function join(header: Uint8Array, pieces: readonly Piece[], length: number): Uint8Array {
  const packet = new Uint8Array(header.length + length)
  packet.set(header)
  for (const piece of pieces) packet.set(piece.bytes, header.length + piece.start)
  writeUint16(packet, 2, packet.length)
  // Neither "more fragments" nor an offset; Don't Fragment stays as it was.
  writeUint16(packet, 6, readUint16(packet, 6) & 0x4000)
  writeUint16(packet, 10, 0)
  writeUint16(packet, 10, foldChecksum(sumWords(packet, 0, header.length)))
  return packet
}
