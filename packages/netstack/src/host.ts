/**
 * The interface between a connection and its stack. `C` is the connection, as a parameter because connection.ts imports
 * this file.
 */
import type { DropReason } from './drop.ts'

/** Why a connection ended, when it did not end by two FINs. */
export type ConnectionError = 'refused' | 'reset' | 'timed-out' | 'unreachable' | 'aborted'

export type HostOutput<C> =
  | { type: 'packet'; packet: Uint8Array }
  | { type: 'drop'; reason: DropReason }
  | { type: 'connected'; connection: C }
  | { type: 'accepted'; connection: C }
  /** There are bytes to read, or the peer's FIN; emitted once until the next `read`. */
  | { type: 'readable'; connection: C }
  /** There is room again after a `send` that took less than it was given. */
  | { type: 'writable'; connection: C }
  | { type: 'closed'; connection: C; error: ConnectionError | undefined }
  | { type: 'echo-reply'; from: number; identifier: number; sequence: number }

export interface Host<C> {
  readonly address: number
  readonly mtu: number
  readonly congestionControl: 'cubic' | 'new-reno'
  /** When the packet or tick being handled came. */
  readonly now: number
  emit(output: HostOutput<C>): void
  /** Asks that `transmit` runs for this connection on the next tick. */
  markDirty(connection: C): void
  /** The connection is in TIME-WAIT. */
  noteTimeWait(connection: C): void
  /** The memory that the connection holds for its reader may have changed. */
  noteKept(connection: C): void
  /** Whether there is room for a payload that has to be stored, above a gap or in order. */
  mayKeep(connection: C, isInOrder: boolean): boolean
  /** The connection ended; its four-tuple is free. */
  remove(connection: C): void
  /** A buffer for one packet. */
  allocate(length: number): Uint8Array
}
