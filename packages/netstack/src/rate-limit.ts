/** Ends how many answers a second a stranger can draw from us. */
export class RateLimit {
  readonly #perSecond: number
  #count = 0
  #since = -Infinity

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Counts one; false when this second has had its share. */
  take(now: number): boolean {
    if (now - this.#since >= 1000) {
      this.#since = now
      this.#count = 0
    }
    return this.#count++ < this.#perSecond
  }
}
