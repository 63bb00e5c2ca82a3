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

const STEP = 0x6d2b79f5

function numberOf(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

export function createRandom(seed: number): Random {
  // Signed: V8 keeps such a number without an allocation.
  let state = seed | 0
  const next = () => {
    state = (state + STEP) | 0
    return numberOf(state)
  }
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    normal() {
      let sum = -6
      let at = state
      for (let i = 0; i < 12; i++) {
        at = (at + STEP) | 0
        sum += numberOf(at)
      }
      state = at
      return sum
    },
    pick: (values) => values[Math.floor(next() * values.length)]!,
  }
}
