/**
 * Rate limits for calls that anybody who reaches the hub may make, used for calls of devices: one token bucket for each
 * source, so that no source crowds out the others, and one for all, so that the total work is bounded. A caller that
 * proves its keys gets its token back, and its network becomes known. Known networks have a bucket of their own: all of
 * a site may connect at once, and strangers cannot use up its share.
 */
import { createBuckets, type Rate } from '@hedgerow/http'
import { HubError } from '../kernel/hub-error.ts'
import { networksOf, networkOf } from './networks.ts'

export type Limits = {
  /** The rate of an IPv4 address or an IPv6 /64; wider networks have a little more. */
  perSource: Rate
  /** How many proofs of one source return a token: valid keys from one source are limited too. */
  proofsPerSource: Rate
  /** The rate of all strangers together; all known networks together have the same. */
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

/** Above these counts, the network used least recently is dropped. */
const NETWORKS_MAX = 30_000
const KNOWN_MAX = 10_000
const KNOWN_FOR_MS = 24 * 3_600_000

export function createLimiter(
  options: Limits & { clock: () => number; onRefused?: (address: string) => void; networksMax?: number },
): Limiter {
  const { clock, onRefused, networksMax = NETWORKS_MAX } = options
  const bySource = createBuckets(options.perSource, networksMax)
  const proving = createBuckets(options.proofsPerSource, networksMax)
  const overall = createBuckets(options.overall, 2)
  /** When each network last proved its keys. */
  const provedAt = new Map<string, number>()

  const keysOf = (address: string) => networksOf(address).map(({ cidr, share }) => ({ key: cidr, share }))

  return {
    take(address) {
      const now = clock()
      const lastProved = provedAt.get(networkOf(address))
      const isKnown = lastProved !== undefined && now - lastProved < KNOWN_FOR_MS
      const everybody = [{ key: isKnown ? 'known' : 'strangers', share: 1 }]
      const keys = keysOf(address)
      const waitMs = Math.max(bySource.waitMs(keys, now), overall.waitMs(everybody, now))
      if (waitMs > 0) {
        onRefused?.(address)
        throw new HubError('too_many_requests', { retryAfterMs: waitMs })
      }
      bySource.add(keys, -1)
      overall.add(everybody, -1)
    },

    proved(address) {
      const now = clock()
      const keys = keysOf(address)
      const network = networkOf(address)
      provedAt.delete(network)
      if (provedAt.size >= KNOWN_MAX) provedAt.delete(provedAt.keys().next().value ?? network)
      provedAt.set(network, now)
      if (proving.waitMs(keys, now) > 0) return
      proving.add(keys, -1)
      bySource.waitMs(keys, now)
      bySource.add(keys, 1)
    },
  }
}
