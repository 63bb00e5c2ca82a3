/**
 * Who is next: at most one thing waits for each key, and a newer one takes the place of the older. Keys come in the
 * order in which they began to wait, so that a busy one gets no more than its share.
 */
export class Turns<T> {
  readonly #waiting = new Map<string, T>()

  /** Returns what the new one replaces. */
  put(key: string, item: T): T | undefined {
    const replaced = this.#waiting.get(key)
    this.#waiting.set(key, item)
    return replaced
  }

  /** The next ones, at most `count`. */
  take(count: number): T[] {
    const next = [...this.#waiting].slice(0, count)
    for (const [key] of next) this.#waiting.delete(key)
    return next.map(([, item]) => item)
  }
}
