/**
 * How often a call may be made that anybody who reaches the hub may try: a token bucket for each address, so that one
 * cannot crowd out the others, and one for all of them, so that the work has an end. Used for what devices ask.
 */
import { isIP } from 'node:net'
import { HubError } from '../kernel/hub-error.ts'

export type Rate = { burst: number; perSecond: number }

export type Limiter = {
  /** Takes one token of the address and one of all. Throws `too_many_requests` when either has none. */
  take(address: string): void
}

type Bucket = { tokens: number; at: number }

/** Addresses beyond `capacity` push out the one that asked least recently. */
export function createLimiter(options: {
  perAddress: Rate
  overall: Rate
  clock: () => number
  capacity?: number
}): Limiter {
  const { perAddress, overall, clock, capacity = 10_000 } = options
  const buckets = new Map<string, Bucket>()
  const shared: Bucket = { tokens: overall.burst, at: clock() }

  return {
    take(address) {
      const now = clock()
      const key = sourceKey(address)
      const bucket = buckets.get(key) ?? { tokens: perAddress.burst, at: now }
      buckets.delete(key)
      if (buckets.size >= capacity) buckets.delete(buckets.keys().next().value ?? key)
      buckets.set(key, bucket)
      refill(bucket, perAddress, now)
      refill(shared, overall, now)
      if (bucket.tokens < 1 || shared.tokens < 1) throw new HubError('too_many_requests')
      bucket.tokens--
      shared.tokens--
    },
  }
}

/** Who counts as one: an IPv4 address, or the /64 that a single IPv6 site has at least. */
export function sourceKey(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':').filter(Boolean)
  const rest = tail.split(':').filter(Boolean)
  const zeros = address.includes('::') ? Array.from({ length: 8 - groups.length - rest.length }, () => '0') : []
  return [...groups, ...zeros, ...rest].slice(0, 4).join(':')
}

function refill(bucket: Bucket, rate: Rate, now: number): void {
  // A clock that was set back gives nothing, and takes nothing either.
  const elapsedSeconds = Math.max(0, now - bucket.at) / 1_000
  bucket.tokens = Math.min(rate.burst, bucket.tokens + elapsedSeconds * rate.perSecond)
  bucket.at = now
}
