import { setImmediate as nextTurn } from 'node:timers/promises'

/** The parts of a long list, one after the other: requests run between two parts. */
export async function* slices<T>(all: readonly T[], size = 200): AsyncGenerator<T[]> {
  for (let start = 0; start < all.length; start += size) {
    if (start > 0) await nextTurn()
    yield all.slice(start, start + size)
  }
}
