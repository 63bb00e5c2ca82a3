/**
 * When a connection has to act with time alone, on the stack's clock in milliseconds; Infinity is off. `timeouts.ts`
 * acts.
 */
export class Deadlines {
  /** The retransmission timer (RFC 6298 §5). */
  retransmitAt = Infinity
  /** A probe for a lost tail (RFC 8985 §7.2). */
  probeAt = Infinity
  /** What was overtaken and is still missing counts as lost then (RFC 8985 §6.2 step 5). */
  reorderAt = Infinity
  /** A question to a window that is closed (RFC 9293 §3.8.6.1). */
  persistAt = Infinity
  /** The pacer lets more leave. */
  paceAt = Infinity
  /** RFC 9293 §3.8.6.3. */
  delayedAckAt = Infinity
  /** RFC 9293 §3.8.4. */
  keepaliveAt = Infinity
  /** End of SYN-RECEIVED, of TIME-WAIT, or of patience with a connection that the application left. */
  expireAt = Infinity

  get earliest(): number {
    return Math.min(
      this.retransmitAt,
      this.probeAt,
      this.reorderAt,
      this.persistAt,
      this.paceAt,
      this.delayedAckAt,
      this.keepaliveAt,
      this.expireAt,
    )
  }

  clear(): void {
    this.retransmitAt =
      this.probeAt =
      this.reorderAt =
      this.persistAt =
      this.paceAt =
      this.delayedAckAt =
      this.keepaliveAt =
      this.expireAt =
        Infinity
  }
}
