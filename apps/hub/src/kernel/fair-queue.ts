/**
 * A bounded queue that is fair among its keys: keys take turns, however many items each has. Items of one key keep
 * their order.
 */
export class FairQueue<T> {
  readonly #limits: { perKey: number; total: number }
  readonly #waiting = new Map<string, T[]>()
  #size = 0

  constructor(limits: { perKey: number; total: number }) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  /** False when there is no room for it. */
  put(key: string, item: T): boolean {
    const own = this.#waiting.get(key) ?? []
    if (own.length >= this.#limits.perKey || this.#size >= this.#limits.total) return false
    own.push(item)
    this.#waiting.set(key, own)
    this.#size += 1
    return true
  }

  /** Takes the first of the key whose turn it is. */
  take(): T | undefined {
    const [next] = this.#waiting
    if (!next) return undefined
    const [key, own] = next
    this.#waiting.delete(key)
    const item = own.shift()
    if (own.length > 0) this.#waiting.set(key, own)
    this.#size -= 1
    return item
  }

  remove(key: string, item: T): void {
    const own = this.#waiting.get(key) ?? []
    const at = own.indexOf(item)
    if (at < 0) return
    own.splice(at, 1)
    if (own.length === 0) this.#waiting.delete(key)
    this.#size -= 1
  }
}
