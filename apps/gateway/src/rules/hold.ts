import { createBuckets, type Rate } from '@hedgerow/http'

/** Limits how often a rule may ask for deterrents: far above visits of animals, far below a program in a loop. */
export type Hold = {
  /** False when the rule has to wait. */
  take(rule: string): boolean
  /** The rules that have been held in the last ten minutes. */
  held(): string[]
}

const RATE: Rate = { burst: 20, perSecond: 0.1 }
const RULES_MAX = 100
const TOLD_MS = 600_000

export function createHold(clock: () => number): Hold {
  const buckets = createBuckets(RATE, RULES_MAX)
  const heldAt = new Map<string, number>()
  return {
    take(rule) {
      const keys = [{ key: rule, share: 1 }]
      const isFree = buckets.waitMs(keys, clock()) === 0
      if (isFree) buckets.add(keys, -1)
      else heldAt.set(rule, clock())
      return isFree
    },
    held: () => [...heldAt].flatMap(([rule, at]) => (Math.abs(clock() - at) < TOLD_MS ? [rule] : [])),
  }
}
