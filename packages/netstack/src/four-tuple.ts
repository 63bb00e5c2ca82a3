/** Values derived from a connection's addresses and ports and a secret: sequence numbers, port order, clock offset. */
import { writeUint16, writeUint32 } from './ipv4.ts'

/** RFC 6528 §3: the counter of initial sequence numbers moves every 4 us. */
const SEQUENCES_PER_MS = 250

/** A keyed hash of the bytes to 32 bits; the key is secret and lives as long as the stack. */
export type KeyedHash = (bytes: Uint8Array) => number

export interface FourTuple {
  localPort: number
  remoteAddress: number
  remotePort: number
}

/** RFC 6528 §3: ISN = M + F(localip, localport, remoteip, remoteport, secretkey). */
export function initialSequence(hash: KeyedHash, localAddress: number, tuple: FourTuple, now: number): number {
  return (Math.floor(now * SEQUENCES_PER_MS) + hash(encode(localAddress, tuple, 0))) >>> 0
}

/** RFC 7323 §7.1: where the timestamp clock of a connection starts, so that it does not reveal our uptime. */
export function timestampOffset(hash: KeyedHash, localAddress: number, tuple: FourTuple): number {
  return hash(encode(localAddress, tuple, 1))
}

/** RFC 6056 §3.3.3: where the search for a local port begins, different for each destination. */
export function portOffset(hash: KeyedHash, localAddress: number, remoteAddress: number, remotePort: number): number {
  return hash(encode(localAddress, { localPort: 0, remoteAddress, remotePort }, 2))
}

/** `purpose` keeps the three apart: knowing one must not reveal another. */
function encode(localAddress: number, tuple: FourTuple, purpose: number): Uint8Array {
  const bytes = new Uint8Array(13)
  writeUint32(bytes, 0, localAddress)
  writeUint32(bytes, 4, tuple.remoteAddress)
  writeUint16(bytes, 8, tuple.localPort)
  writeUint16(bytes, 10, tuple.remotePort)
  bytes[12] = purpose
  return bytes
}
