/**
 * The last seconds of a camera's video as FFmpeg copies it: an MPEG transport stream (ISO/IEC 13818-1), in memory, in
 * groups that each begin with a picture that needs no other. Nothing is decoded, and nothing is written to disk without
 * a detection.
 */

import { createHash, type Hash } from 'node:crypto'

/** Packet identifiers that FFmpeg is told to use, so that the tables need not be searched. */
export const PROGRAM_MAP_PID = 0x1000
export const VIDEO_PID = 0x100

const PACKET_BYTES = 188
const PROGRAM_ASSOCIATION_PID = 0

/** Stream types that browsers play from an MP4 file: table 2-34 of the standard, and its amendments. */
const CODINGS: ReadonlyMap<number, Coding> = new Map([
  [0x1b, 'h264'],
  [0x24, 'h265'],
])
export type Coding = 'h264' | 'h265'

type Group = { at: number; bytes: number; parts: Buffer[] }

export type RecentStream = {
  /**
   * Takes bytes of packets, cut anywhere, and returns the whole packets. `at` is in milliseconds of a clock that never
   * goes back.
   */
  add(bytes: Buffer, at: number): Buffer
  /** The stored packets, from the last group that began at or before `at`, or from the oldest. */
  since(at: number): Buffer[]
  /** Undefined until it is known; `other` when no clip can be made of it. */
  coding(): Coding | 'other' | undefined
  /** Call it for each new connection. */
  clear(): void
}

/** Cuts bytes, which may end anywhere, into whole packets. */
function createPacketReader() {
  let rest: Buffer = Buffer.alloc(0)
  return {
    read(bytes: Buffer): Buffer {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      const whole = all.length - (all.length % PACKET_BYTES)
      rest = all.subarray(whole)
      return all.subarray(0, whole)
    },
    clear: () => (rest = Buffer.alloc(0)),
  }
}

/**
 * Calls `onStart` for each picture of one connection's stream that needs no other, and `onEnd` with a hash of its bytes
 * once they are there.
 */
export function createKeyFrameReader(onStart: () => void, onEnd: (hash: string) => void): (bytes: Buffer) => void {
  const { read } = createPacketReader()
  let hash: Hash | undefined
  return (bytes) => {
    const packets = read(bytes)
    for (let start = 0; start < packets.length; start += PACKET_BYTES) {
      if (pidOf(packets, start) !== VIDEO_PID) continue
      const isFirst = (packets[start + 1]! & 0x40) !== 0
      if (isFirst && hash) {
        onEnd(hash.digest('base64'))
        hash = undefined
      }
      if (isRandomAccess(packets, start)) {
        onStart()
        hash = createHash('sha1')
      }
      const payload = start + (packets[start + 3]! & 0x20 ? 5 + packets[start + 4]! : 4)
      // The head of the first packet has the time (2.4.3.6).
      hash?.update(packets.subarray(isFirst ? payload + 9 + packets[payload + 8]! : payload, start + PACKET_BYTES))
    }
  }
}

/** Holds the last `keepMs`, as far as `maxBytes` allows. */
export function createRecentStream({ keepMs, maxBytes }: { keepMs: number; maxBytes: number }): RecentStream {
  let groups: Group[] = []
  const reader = createPacketReader()
  let tables: Buffer[] = []
  let coding: Coding | 'other' | undefined
  let bufferedBytes = 0

  function addPackets(bytes: Buffer, at: number): void {
    let from = 0
    for (let start = 0; start < bytes.length; start += PACKET_BYTES) {
      const pid = pidOf(bytes, start)
      if (pid === PROGRAM_ASSOCIATION_PID) tables = [bytes.subarray(start, start + PACKET_BYTES)]
      else if (pid === PROGRAM_MAP_PID) readMap(bytes.subarray(start, start + PACKET_BYTES))
      else if (pid === VIDEO_PID && isRandomAccess(bytes, start)) {
        append(bytes.subarray(from, start))
        from = start
        beginGroup(at)
      }
    }
    append(bytes.subarray(from))
  }

  function beginGroup(at: number): void {
    groups.push({ at, bytes: 0, parts: [] })
    for (const table of tables) append(Buffer.from(table))
    while (groups.length > 1 && (groups[1]!.at <= at - keepMs || bufferedBytes > maxBytes)) dropFirst()
  }

  function dropFirst(): void {
    bufferedBytes -= groups.shift()!.bytes
  }

  /** Before the first group there is nothing to add to. */
  function append(part: Buffer): void {
    const last = groups.at(-1)
    if (!last || part.length === 0) return
    last.parts.push(part)
    last.bytes += part.length
    bufferedBytes += part.length
    while (bufferedBytes > maxBytes && groups.length > 0) dropFirst()
  }

  function readMap(packet: Buffer): void {
    tables = [...tables.slice(0, 1), packet]
    const section = packet.subarray(packet[3]! & 0x20 ? 5 + packet[4]! : 4)
    if (section.length < 14) return
    // After the pointer: 12 bytes up to the descriptors of the program, and then the first stream.
    const descriptors = section.readUInt16BE(11) & 0x0fff
    const type = section[13 + descriptors]
    if (type !== undefined) coding = CODINGS.get(type) ?? 'other'
  }

  return {
    add(bytes, at) {
      const packets = reader.read(bytes)
      if (packets.length > 0) addPackets(packets, at)
      return packets
    },
    since(at) {
      const first = groups.findLastIndex((group) => group.at <= at)
      return groups.slice(Math.max(0, first)).flatMap(({ parts }) => parts)
    },
    coding: () => coding,
    clear() {
      groups = []
      reader.clear()
      tables = []
      coding = undefined
      bufferedBytes = 0
    },
  }
}

function pidOf(bytes: Buffer, start: number): number {
  return bytes.readUInt16BE(start + 1) & 0x1fff
}

/** The flag of the adaptation field (2.4.3.5): decoding can begin here. */
function isRandomAccess(bytes: Buffer, start: number): boolean {
  const hasField = (bytes[start + 3]! & 0x20) !== 0
  return hasField && bytes[start + 4]! > 0 && (bytes[start + 5]! & 0x40) !== 0
}
