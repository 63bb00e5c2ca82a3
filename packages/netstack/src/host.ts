/** What a connection says to the stack that holds it, and what it needs of it. */
import type { Connection } from './connection.ts'
import type { DropReason } from './drop.ts'

/** Why a connection ended, when it did not end by two FINs. */
export type ConnectionError = 'refused' | 'reset' | 'timed-out' | 'unreachable' | 'aborted'

export type Output =
  | { type: 'packet'; packet: Uint8Array }
  | { type: 'drop'; reason: DropReason }
  | { type: 'connected'; connection: Connection }
  | { type: 'accepted'; connection: Connection }
  /** There are bytes to read, or the peer's FIN; said once until the next `read`. */
  | { type: 'readable'; connection: Connection }
  /** There is room again after a `send` that took less than it was given. */
  | { type: 'writable'; connection: Connection }
  | { type: 'closed'; connection: Connection; error: ConnectionError | undefined }
  | { type: 'echo-reply'; from: number; identifier: number; sequence: number }

export interface Host {
  readonly address: number
  readonly mtu: number
  readonly congestionControl: 'cubic' | 'new-reno'
  /** When the packet or tick being handled came. */
  readonly now: number
  emit(output: Output): void
  /** Asks that `transmit` runs for this connection on the next tick. */
  markDirty(connection: Connection): void
  /** The connection only waits for its four-tuple to be forgotten. */
  noteTimeWait(connection: Connection): void
  /** What the connection keeps for its reader may have changed. */
  noteKept(connection: Connection): void
  /** Whether there is room for a payload that has to be kept, above a gap or in order. */
  mayKeep(connection: Connection, isInOrder: boolean): boolean
  /** The connection ended; its four-tuple is free. */
  remove(connection: Connection): void
  /** A buffer for one packet. */
  allocate(length: number): Uint8Array
}
