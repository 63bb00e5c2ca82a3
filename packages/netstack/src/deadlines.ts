/**
 * When a connection next has to act, on the stack's clock in milliseconds; Infinity means never. `timeouts.ts` acts.
 */
export class Deadlines {
  /** The retransmission timer (RFC 6298 §5). */
  retransmitAt = Infinity
  /** A probe for a lost tail (RFC 8985 §7.2). */
  probeAt = Infinity
  /** When overtaken segments that are still missing count as lost (RFC 8985 §6.2 step 5). */
  reorderAt = Infinity
  /** When to probe a closed window (RFC 9293 §3.8.6.1). */
  persistAt = Infinity
  /** When the pacer allows more. */
  paceAt = Infinity
  /** RFC 9293 §3.8.6.3. */
  delayedAckAt = Infinity
  /** RFC 9293 §3.8.4. */
  keepaliveAt = Infinity
  /** End of SYN-RECEIVED, of TIME-WAIT, or of the wait for a connection that the application closed. */
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
