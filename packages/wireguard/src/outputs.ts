/** What the device answers with. It performs nothing: its caller sends the datagrams, delivers the packets, counts the drops. */

import type { PublicKey } from './keys.ts'

/** An IP address in text and a UDP port. */
export type Endpoint = { address: string; port: number }

/**
 * One instant on two clocks, given with every call. `monotonicMs` never goes back and drives every timer; `unixMs`, the wall clock, only
 * dates initiations and what `peers()` shows. Both may have fractions.
 */
export type Now = { monotonicMs: number; unixMs: number }

/** Why something went no further. Closed, so that each is a metric. */
export type DropReason =
  /** Not the header or the length of any message. */
  | 'malformed'
  /** The sender does not know this device's public key (§5.4.4). */
  | 'bad-mac1'
  /** Under load, and the sender has not proved its address; a cookie went back (§5.3). */
  | 'cookie-required'
  /** Under load, and this source address asked too often. */
  | 'rate-limited'
  /** A handshake message that does not decrypt, or whose points make an all-zero secret. */
  | 'bad-handshake'
  /** A well-formed initiation of a key that is not a peer. */
  | 'unknown-peer'
  /** An initiation not later than the last one of its peer (§5.1). */
  | 'replayed-initiation'
  /** More than 50 initiations a second from one peer. */
  | 'initiation-flood'
  /** A receiver index that belongs to no handshake or session here. */
  | 'unknown-index'
  /** A response to a session that is already made. */
  | 'unexpected-response'
  | 'bad-cookie-reply'
  | 'bad-transport'
  | 'replayed-counter'
  | 'expired-session'
  | 'counter-exhausted'
  /** Decrypted, but not an IP packet of its stated length. */
  | 'bad-inner-packet'
  /** Decrypted, but from an address that its peer may not use (§2). */
  | 'source-not-allowed'
  /** To send: not an IP packet, or larger than a UDP datagram carries. */
  | 'bad-packet'
  /** To send: no peer has the destination among its allowed IPs. */
  | 'no-route'
  /** The oldest packet waiting for a handshake gave way to a newer one. */
  | 'queue-full'
  /** A packet waited for a handshake that was given up. */
  | 'handshake-timeout'

export type Output =
  /** To send as it is. Fresh, never reused by the device. `peer` is absent where the sender is not authenticated. */
  | { type: 'datagram'; data: Uint8Array; to: Endpoint; peer?: PublicKey }
  /** An authenticated IP packet without its padding, from an address its peer may use. The caller owns it. */
  | { type: 'packet'; data: Uint8Array; peer: PublicKey }
  | { type: 'drop'; reason: DropReason }
  /** A session was confirmed by both sides, whoever began it. */
  | { type: 'handshake'; peer: PublicKey; endpoint: Endpoint }
