/** Congestion control: how much may be in flight. Connections know only this interface. */
/** Windows in bytes, times in milliseconds. */
export interface CongestionControl {
  readonly window: number
  readonly isInSlowStart: boolean
  /** Bytes left the network outside of fast recovery, while the window was in use. */
  onAcknowledged(acknowledged: Acknowledged): void
  /** A loss was detected by RACK or duplicates; called once per recovery. */
  onLoss(inFlight: number): void
  /** The retransmission timer expired; `isFirst` is false for the repeats of one timeout. */
  onTimeout(inFlight: number, isFirst: boolean): void
  /** The last loss was spurious: restores the window. */
  onSpurious(): void
  /** Nothing was in flight for longer than a retransmission timeout. */
  onIdle(): void
}

export interface Acknowledged {
  bytes: number
  now: number
  /** The newest sample and the smoothed one. */
  roundTripMs: number
  smoothedMs: number
  inFlight: number
}
