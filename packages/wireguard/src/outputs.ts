/** The device's outputs. The device does no I/O: its caller sends the datagrams and delivers the packets. */

import type { DropReason } from './drops.ts'
import type { PublicKey } from './keys.ts'

/** An IP address in text and a UDP port. */
export type Endpoint = { address: string; port: number }

/**
 * One instant on two clocks, given with every call. `monotonicMs` never goes back and drives every timer; `unixMs`, the
 * wall clock, only dates initiations and what `peers()` shows. Both may have fractions.
 */
export type Now = { monotonicMs: number; unixMs: number }

export type Output =
  /**
   * A datagram to send, in memory that the device does not use again; the owner of its slab may. `peer` is absent where
   * the sender is not authenticated.
   */
  | { type: 'datagram'; data: Uint8Array; to: Endpoint; peer?: PublicKey }
  /**
   * An authenticated IP packet without its padding, from an address its peer may use, in the memory of the datagram it
   * came in. The caller owns it.
   */
  | { type: 'packet'; data: Uint8Array; peer: PublicKey }
  | { type: 'drop'; reason: DropReason }
  /** A session was confirmed by both sides, whoever began it. */
  | { type: 'handshake'; peer: PublicKey; endpoint: Endpoint }
