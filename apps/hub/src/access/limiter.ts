/**
 * How often a call may be made that anybody who reaches the hub may try: a token bucket for each source, so that one
 * cannot crowd out the others, and one for all of them, so that the work has an end. Used for what devices ask. Who
 * then proves itself gets its token back, and its site is no stranger any more: a whole site may come at once, and
 * strangers cannot use up what known sites have.
 */
import { HubError } from '../kernel/hub-error.ts'
import { networksOf, siteOf } from './networks.ts'

export type Rate = { burst: number; perSecond: number }

export type Limits = {
  /** Of an IPv4 address or an IPv6 /64; wider networks have a little more. */
  perSource: Rate
  /** Proofs of a source that give a token back: what comes from one source with valid keys is bounded too. */
  proofsPerSource: Rate
  /** For all strangers together, and as much again for all known sites. */
  overall: Rate
}

export type Limiter = {
  /** Takes one token of each network of the address and one of all. Throws `too_many_requests` when one has none. */
  take(address: string): void
  /** Whoever took a token at this address has shown its keys. */
  proved(address: string): void
}

/** A limit of each of those who have shown who they are, by name. `take` throws `too_many_requests` when it is over. */
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

/** Networks and sites beyond these push out the one that asked least recently. */
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
  /** When a site was last proved. */
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

/** A bucket of tokens for each key; the keys beyond `capacity` that asked least recently are forgotten. */
export function createBuckets(rate: Rate, capacity: number) {
  const buckets = new Map<string, Bucket>()

  function refilled({ key, share }: Key, now: number): Bucket {
    const full = rate.burst * share
    const bucket = buckets.get(key) ?? { tokens: full, at: now }
    buckets.delete(key)
    if (buckets.size >= capacity) buckets.delete(buckets.keys().next().value ?? key)
    buckets.set(key, bucket)
    // A clock that was set back gives nothing, and takes nothing either.
    const elapsedSeconds = Math.max(0, now - bucket.at) / 1_000
    bucket.tokens = Math.min(full, bucket.tokens + elapsedSeconds * rate.perSecond * share)
    bucket.at = now
    return bucket
  }

  return {
    /** Until each of them has a token; 0 when they have. */
    waitMs: (keys: readonly Key[], now: number): number =>
      Math.max(
        ...keys.map((key) => {
          const missing = 1 - refilled(key, now).tokens
          return missing <= 0 ? 0 : (missing / (rate.perSecond * key.share)) * 1_000
        }),
      ),
    /** To be called after `waitMs`, which fills them up. */
    add(keys: readonly Key[], tokens: number): void {
      for (const { key, share } of keys) {
        const bucket = buckets.get(key)
        if (bucket) bucket.tokens = Math.min(rate.burst * share, bucket.tokens + tokens)
      }
    },
  }
}
