/**
 * The next deadline of each peer, in one binary heap: the device needs one timer of its host however many peers it has.
 * A deadline that only moved later stays where it is; the tick that finds it early puts it back.
 */

/** Owned by the heap, kept inside the item so that moving it needs no look-up. */
export type Slot = { deadlineMs: number; heapIndex: number }

export type Deadlines<Item extends Slot> = {
  /** Moves the item forward to `atMs` if its deadline is later. */
  bring(item: Item, atMs: number): void
  /** Takes the first item whose deadline is at or before `nowMs`. */
  takeDue(nowMs: number): Item | undefined
  remove(item: Item): void
  earliest(): number | undefined
}

export const NOT_IN_HEAP = -1

export function createDeadlines<Item extends Slot>(): Deadlines<Item> {
  const heap: Item[] = []

  function place(item: Item, index: number): void {
    heap[index] = item
    item.heapIndex = index
  }

  function rise(item: Item): void {
    let index = item.heapIndex
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = heap[parentIndex]
      if (parent === undefined || parent.deadlineMs <= item.deadlineMs) break
      place(parent, index)
      index = parentIndex
    }
    place(item, index)
  }

  function sink(item: Item): void {
    let index = item.heapIndex
    for (;;) {
      const left = heap[index * 2 + 1]
      const right = heap[index * 2 + 2]
      const child = right !== undefined && left !== undefined && right.deadlineMs < left.deadlineMs ? right : left
      if (child === undefined || child.deadlineMs >= item.deadlineMs) break
      const childIndex = child.heapIndex
      place(child, index)
      index = childIndex
    }
    place(item, index)
  }

  function bring(item: Item, atMs: number): void {
    if (item.heapIndex === NOT_IN_HEAP) {
      item.deadlineMs = atMs
      item.heapIndex = heap.length
      heap.push(item)
    } else if (atMs < item.deadlineMs) {
      item.deadlineMs = atMs
    } else {
      return
    }
    rise(item)
  }

  function remove(item: Item): void {
    const index = item.heapIndex
    if (index === NOT_IN_HEAP) return
    item.heapIndex = NOT_IN_HEAP
    const last = heap.pop()
    if (last === undefined || last === item) return
    place(last, index)
    rise(last)
    sink(last)
  }

  function takeDue(nowMs: number): Item | undefined {
    const first = heap[0]
    if (first === undefined || first.deadlineMs > nowMs) return undefined
    remove(first)
    return first
  }

  return { bring, takeDue, remove, earliest: () => heap[0]?.deadlineMs }
}
