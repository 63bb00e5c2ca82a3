/** How often a rule may ask for deterrents at most: far more than animals come, far less than a program in a loop. */
export type Hold = {
  /** False when the rule has to wait. */
  take(rule: string): boolean
  /** The rules that had to wait in the last ten minutes. */
  held(): string[]
}

const BURST = 20
const EVERY_MS = 10_000
const TOLD_MS = 600_000

export function createHold(clock: () => number): Hold {
  const buckets = new Map<string, { tokens: number; filledAt: number; heldAt: number }>()
  return {
    take(rule) {
      const now = clock()
      const bucket = buckets.get(rule) ?? { tokens: BURST, filledAt: now, heldAt: -Infinity }
      buckets.set(rule, bucket)
      bucket.tokens = Math.min(BURST, bucket.tokens + Math.max(0, now - bucket.filledAt) / EVERY_MS)
      bucket.filledAt = now
      if (bucket.tokens < 1) {
        bucket.heldAt = now
        return false
      }
      bucket.tokens -= 1
      return true
    },
    held: () => [...buckets].flatMap(([rule, { heldAt }]) => (Math.abs(clock() - heldAt) < TOLD_MS ? [rule] : [])),
  }
}
