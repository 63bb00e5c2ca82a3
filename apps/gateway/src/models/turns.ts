/**
 * A queue with at most one item for each key; a newer item replaces the older one. Keys are served in the order in
 * which they began to wait, so that a busy key gets no more than its share.
 */
export class Turns<T> {
  readonly #waiting = new Map<string, T>()

  /** Returns the item that the new one replaces. */
  put(key: string, item: T): T | undefined {
    const replaced = this.#waiting.get(key)
    this.#waiting.set(key, item)
    return replaced
  }

  /** Takes the next items, at most `count`. */
  take(count: number): T[] {
    const next = [...this.#waiting].slice(0, count)
    for (const [key] of next) this.#waiting.delete(key)
    return next.map(([, item]) => item)
  }
}
