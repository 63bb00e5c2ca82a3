/** Tokens in a full bucket, and how many come back in a second. */
export type Rate = { burst: number; perSecond: number }

/** `share`: this key has `share` times the rate. */
export type BucketKey = { key: string; share: number }
type Bucket = { tokens: number; at: number }

/** One token bucket for each key. Above `capacity`, the key used least recently is dropped. */
export function createBuckets(rate: Rate, capacity: number) {
  const buckets = new Map<string, Bucket>()

  function refilled({ key, share }: BucketKey, now: number): Bucket {
    const full = rate.burst * share
    const bucket = buckets.get(key) ?? { tokens: full, at: now }
    buckets.delete(key)
    if (buckets.size >= capacity) buckets.delete(buckets.keys().next().value ?? key)
    buckets.set(key, bucket)
    // A clock that was set back neither adds nor removes tokens.
    const elapsedSeconds = Math.max(0, now - bucket.at) / 1_000
    bucket.tokens = Math.min(full, bucket.tokens + elapsedSeconds * rate.perSecond * share)
    bucket.at = now
    return bucket
  }

  return {
    /** Milliseconds until each key has a token; 0 when all have one. */
    waitMs: (keys: readonly BucketKey[], now: number): number =>
      Math.max(
        ...keys.map((key) => {
          const missing = 1 - refilled(key, now).tokens
          return missing <= 0 ? 0 : (missing / (rate.perSecond * key.share)) * 1_000
        }),
      ),
    /** Call it after `waitMs`, which refills the buckets. */
    add(keys: readonly BucketKey[], tokens: number): void {
      for (const { key, share } of keys) {
        const bucket = buckets.get(key)
        if (bucket) bucket.tokens = Math.min(rate.burst * share, bucket.tokens + tokens)
      }
    },
  }
}
