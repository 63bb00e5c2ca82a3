/** Numbers that look random and are the same for the same seed: mulberry32. */
export type Random = {
  /** At least 0, below 1. */
  next(): number
  /** At least `low`, below `high`. */
  between(low: number, high: number): number
  /** Gaussian with mean 0 and deviation 1, of twelve uniform numbers: never beyond 6. */
  normal(): number
  pick<T>(values: readonly T[]): T
}

export function createRandom(seed: number): Random {
  // Signed: V8 keeps such a number without an allocation.
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    normal() {
      let sum = -6
      for (let i = 0; i < 12; i++) sum += next()
      return sum
    },
    pick: (values) => values[Math.floor(next() * values.length)]!,
  }
}
