/**
 * Why a datagram or packet was dropped. Closed, so that each reason is a metric; every drop of a device counts under
 * one of them.
 */

export const DROP_REASONS = [
  /** It has not the header or the length of any message. */
  'malformed',
  /** The sender does not know this device's public key (§5.4.4). */
  'bad-mac1',
  /** Under load, and the sender has not proved its address; a cookie went back (§5.3). */
  'cookie-required',
  /** Under load, and this source address asked too often. */
  'rate-limited',
  /** A handshake message that does not decrypt, or whose points make an all-zero secret. */
  'bad-handshake',
  /** A well-formed initiation of a key that is not a peer. */
  'unknown-peer',
  /** An initiation not later than the last one of its peer (§5.1). */
  'replayed-initiation',
  /** More than 50 initiations a second from one peer. */
  'initiation-flood',
  /** A receiver index that belongs to no handshake or session here. */
  'unknown-index',
  /** A response to a session that is already made. */
  'unexpected-response',
  'bad-cookie-reply',
  'bad-transport',
  'replayed-counter',
  'expired-session',
  'counter-exhausted',
  /** Decrypted, but not an IP packet of its stated length. */
  'bad-inner-packet',
  /** Decrypted, but from an address that its peer may not use (§2). */
  'source-not-allowed',
  /** To send: not an IP packet, or larger than a UDP datagram carries. */
  'bad-packet',
  /** To send: no peer has the destination among its allowed IPs. */
  'no-route',
  /** The oldest packet that waited for a handshake was dropped for a newer one. */
  'queue-full',
  /** A packet waited for a handshake that was given up. */
  'handshake-timeout',
  /** Too many handshake messages waited for their turn; this one came last. */
  'handshake-backlog',
] as const

export type DropReason = (typeof DROP_REASONS)[number]

/** The numbers since the device was made. */
export type DropCounts = Record<DropReason, number>

export function noDrops(): DropCounts {
  return Object.fromEntries(DROP_REASONS.map((reason) => [reason, 0])) as DropCounts
}
