/** Limits the answers a second that a stranger can cause. */
export class RateLimit {
  readonly #perSecond: number
  #count = 0
  #since = -Infinity

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Counts one; returns false above this second's limit. */
  take(now: number): boolean {
    if (now - this.#since >= 1000) {
      this.#since = now
      this.#count = 0
    }
    return this.#count++ < this.#perSecond
  }
}

/** The same limit for each address: one that uses up its share takes nothing from the others. */
export class RateLimits {
  readonly #perSecond: number
  readonly #counts = new Map<number, number>()
  #since = -Infinity

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Counts one of `address`; returns false above its limit of this second, or when too many other addresses asked. */
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

/** Addresses that are counted in one second. */
const MAX_ADDRESSES = 16_384
