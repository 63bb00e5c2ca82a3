/**
 * Rate limits for calls that anybody who reaches the hub may make, used for calls of devices: one token bucket for each
 * source, so that no source crowds out the others, and one for all, so that the total work is bounded. A caller that
 * proves its keys gets its token back, and its site becomes known. Known sites have a bucket of their own: a whole site
 * may connect at once, and strangers cannot use up its share.
 */
import { HubError } from '../kernel/hub-error.ts'
import { networksOf, siteOf } from './networks.ts'

export type Rate = { burst: number; perSecond: number }

export type Limits = {
  /** The rate of an IPv4 address or an IPv6 /64; wider networks have a little more. */
  perSource: Rate
  /** How many proofs of one source return a token: valid keys from one source are limited too. */
  proofsPerSource: Rate
  /** The rate of all strangers together; all known sites together have the same. */
  overall: Rate
}

export type Limiter = {
  /**
   * Takes one token from each network of the address and one from the total. Throws `too_many_requests` when one has
   * none.
   */
  take(address: string): void
  /** Call it when the caller at this address has proved its keys. */
  proved(address: string): void
}

/** One limit for each authenticated caller, by name. `take` throws `too_many_requests`. */
export type NamedLimiter = { take(name: string): void }

export function createNamedLimiter(options: { perName: Rate; namesMax: number; clock: () => number }): NamedLimiter {
  const buckets = createBuckets(options.perName, options.namesMax)
  return {
    take(name) {
      const keys = [{ key: name, share: 1 }]
      const waitMs = buckets.waitMs(keys, options.clock())
      if (waitMs > 0) throw new HubError('too_many_requests', { retryAfterMs: waitMs })
      buckets.add(keys, -1)
    },
  }
}

/** Above these counts, the network or site used least recently is dropped. */
const NETWORKS_MAX = 30_000
const KNOWN_MAX = 10_000
const KNOWN_FOR_MS = 24 * 3_600_000

export function createLimiter(
  options: Limits & { clock: () => number; onRefused?: (address: string) => void; networksMax?: number },
): Limiter {
  const { clock, onRefused, networksMax = NETWORKS_MAX } = options
  const asking = createBuckets(options.perSource, networksMax)
  const proving = createBuckets(options.proofsPerSource, networksMax)
  const overall = createBuckets(options.overall, 2)
  /** When each site last proved its keys. */
  const known = new Map<string, number>()

  const keysOf = (address: string) => networksOf(address).map(({ cidr, share }) => ({ key: cidr, share }))

  return {
    take(address) {
      const now = clock()
      const lastProved = known.get(siteOf(address))
      const isKnown = lastProved !== undefined && now - lastProved < KNOWN_FOR_MS
      const everybody = [{ key: isKnown ? 'known' : 'strangers', share: 1 }]
      const keys = keysOf(address)
      const waitMs = Math.max(asking.waitMs(keys, now), overall.waitMs(everybody, now))
      if (waitMs > 0) {
        onRefused?.(address)
        throw new HubError('too_many_requests', { retryAfterMs: waitMs })
      }
      asking.add(keys, -1)
      overall.add(everybody, -1)
    },

    proved(address) {
      const now = clock()
      const keys = keysOf(address)
      const site = siteOf(address)
      known.delete(site)
      if (known.size >= KNOWN_MAX) known.delete(known.keys().next().value ?? site)
      known.set(site, now)
      if (proving.waitMs(keys, now) > 0) return
      proving.add(keys, -1)
      asking.waitMs(keys, now)
      asking.add(keys, 1)
    },
  }
}

type Key = { key: string; share: number }
type Bucket = { tokens: number; at: number }

/** One token bucket for each key. Above `capacity`, the key used least recently is dropped. */
export function createBuckets(rate: Rate, capacity: number) {
  const buckets = new Map<string, Bucket>()

  function refilled({ key, share }: Key, now: number): Bucket {
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
    waitMs: (keys: readonly Key[], now: number): number =>
      Math.max(
        ...keys.map((key) => {
          const missing = 1 - refilled(key, now).tokens
          return missing <= 0 ? 0 : (missing / (rate.perSecond * key.share)) * 1_000
        }),
      ),
    /** Call it after `waitMs`, which refills the buckets. */
    add(keys: readonly Key[], tokens: number): void {
      for (const { key, share } of keys) {
        const bucket = buckets.get(key)
        if (bucket) bucket.tokens = Math.min(rate.burst * share, bucket.tokens + tokens)
      }
    },
  }
}
