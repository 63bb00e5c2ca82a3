/** The numbers of the paper's section 6.1. Times are milliseconds of a monotonic clock. */

export const REKEY_AFTER_TIME_MS = 120_000
export const REJECT_AFTER_TIME_MS = 180_000
export const REKEY_ATTEMPT_TIME_MS = 90_000
export const REKEY_TIMEOUT_MS = 5_000
export const KEEPALIVE_TIMEOUT_MS = 10_000

/** Spread added to every retry so that two sides that start together do not stay together (§6.1). */
export const REKEY_JITTER_MS = 334

/** Keys that no new handshake replaced are zeroed after this (§6.3). */
export const ERASE_AFTER_TIME_MS = REJECT_AFTER_TIME_MS * 3

/**
 * The paper allows 2^60 messages before a rekey and 2^64 - 2^13 - 1 in all. Counters here are JavaScript numbers, exact
 * to 2^53, so both limits are lower. A session ends after 180 s, long before either can be reached.
 */
export const REKEY_AFTER_MESSAGES = 2 ** 52
export const REJECT_AFTER_MESSAGES = 2 ** 53 - 2 ** 13 - 1

/** A cookie and the secret behind it live this long (§5.4.7). */
export const COOKIE_LIFETIME_MS = 120_000
/** The initiator stops using a cookie a little early, because it may still be on its way when the secret changes. */
export const COOKIE_LATENCY_MS = 5_000

/** Initiations accepted from one peer: 50 a second (§5.1, §6.1). */
export const MIN_INITIATION_INTERVAL_MS = 20

/** Packets that wait for one peer's handshake; the oldest is dropped. */
export const MAX_QUEUED_PACKETS = 128

/** Work done in one tick, so that ten thousand due peers cannot hold the event loop. */
export const MAX_INITIATIONS_PER_TICK = 32
export const MAX_PEERS_PER_TICK = 512

export const DEFAULT_MTU = 1420

/** "Never" as a deadline. */
export const NEVER = Number.POSITIVE_INFINITY
