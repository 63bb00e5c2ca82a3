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

/** The same for each of many, by address: one that draws its share takes nothing from the others. */
export class RateLimits {
  readonly #perSecond: number
  readonly #counts = new Map<number, number>()
  #since = -Infinity

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Counts one of `address`; false when it has had its share of this second, or when too many others asked. */
  take(address: number, now: number): boolean {
    if (now - this.#since >= 1000) {
      this.#since = now
      this.#counts.clear()
    }
    const count = this.#counts.get(address) ?? 0
    if (count >= this.#perSecond || (count === 0 && this.#counts.size >= MAX_ADDRESSES)) return false
    this.#counts.set(address, count + 1)
    return true
  }
}

/** Of one second. */
const MAX_ADDRESSES = 16_384
