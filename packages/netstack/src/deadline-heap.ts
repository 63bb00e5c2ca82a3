/**
 * The connections that wait for a time, the earliest first: a binary heap, so that thousands of them cost a packet no
 * more than a few. An entry stays in place when its deadline moves later; the caller that takes it checks the time
 * again.
 */

/** Kept in the item, so that moving it needs no look-up. */
export interface HeapItem {
  /** The time of its entry in the heap; Infinity outside it. */
  waitsUntil: number
  heapIndex: number
}

export class DeadlineHeap<Item extends HeapItem> {
  readonly #heap: Item[] = []

  /** Infinity when nothing waits. */
  get earliest(): number {
    return this.#heap[0]?.waitsUntil ?? Infinity
  }

  /** Adds the item, or moves it forward; a later time changes nothing. */
  bring(item: Item, at: number): void {
    if (at >= item.waitsUntil) return
    if (item.waitsUntil === Infinity) item.heapIndex = this.#heap.length
    item.waitsUntil = at
    this.#rise(item)
  }

  /** Takes the first item whose time is `now` or before. */
  takeDue(now: number): Item | undefined {
    const first = this.#heap[0]
    if (first === undefined || first.waitsUntil > now) return undefined
    this.remove(first)
    return first
  }

  remove(item: Item): void {
    if (item.waitsUntil === Infinity) return
    item.waitsUntil = Infinity
    const last = this.#heap.pop()!
    if (last === item) return
    last.heapIndex = item.heapIndex
    this.#rise(last)
    this.#sink(last)
  }

  #rise(item: Item): void {
    let index = item.heapIndex
    while (index > 0) {
      const parent = this.#heap[(index - 1) >> 1]!
      if (parent.waitsUntil <= item.waitsUntil) break
      this.#place(parent, index)
      index = (index - 1) >> 1
    }
    this.#place(item, index)
  }

  #sink(item: Item): void {
    let index = item.heapIndex
    for (;;) {
      const left = this.#heap[2 * index + 1]
      const right = this.#heap[2 * index + 2]
      const child = right !== undefined && right.waitsUntil < left!.waitsUntil ? right : left
      if (child === undefined || child.waitsUntil >= item.waitsUntil) break
      const next = child.heapIndex
      this.#place(child, index)
      index = next
    }
    this.#place(item, index)
  }

  #place(item: Item, index: number): void {
    this.#heap[index] = item
    item.heapIndex = index
  }
}
