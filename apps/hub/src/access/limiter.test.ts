import { describe, expect, it } from 'vitest'
import { createLimiter } from './limiter.ts'
import { HubError } from '../kernel/hub-error.ts'

function limiter(overall = { burst: 5, perSecond: 10 }) {
  let now = 0
  const refused: string[] = []
  const { take, proved } = createLimiter({
    perSource: { burst: 3, perSecond: 1 },
    proofsPerSource: { burst: 8, perSecond: 1 },
    overall,
    clock: () => now,
    onRefused: (address) => refused.push(address),
  })
  const tries = (address: string, count: number) =>
    Array.from({ length: count }, () => {
      try {
        take(address)
        return true
      } catch {
        return false
      }
    }).filter(Boolean).length
  return { tries, take, proved, refused, advance: (ms: number) => (now += ms) }
}

describe('limits of public calls', () => {
  it('let an address send a burst, then hold it to its rate', () => {
    const { tries, advance } = limiter()
    expect(tries('192.0.2.1', 10)).toBe(3)
    advance(2_000)
    expect(tries('192.0.2.1', 10)).toBe(2)
    advance(3_600_000)
    expect(tries('192.0.2.1', 10)).toBe(3)
  })

  it('do not let one address use up the share of others', () => {
    const { tries } = limiter()
    tries('192.0.2.1', 1_000)
    expect(tries('192.0.2.2', 1)).toBe(1)
  })

  it('limit all addresses together', () => {
    const { tries } = limiter()
    const entered = Array.from({ length: 50 }, (_, i) => tries(`192.0.2.${i}`, 1))
    expect(entered.filter(Boolean)).toHaveLength(5)
  })

  it('add no tokens when the clock is set back', () => {
    const { tries, advance } = limiter()
    tries('192.0.2.1', 10)
    advance(-3_600_000)
    expect(tries('192.0.2.1', 10)).toBe(0)
    advance(2_000)
    expect(tries('192.0.2.1', 10)).toBe(2)
  })

  it('count an IPv6 source by its /64, its /56 and its /48', () => {
    const site = (network: string) => limiter({ burst: 1_000, perSecond: 10 }).tries(`2001:db8:1:${network}::1`, 100)
    expect(site('1')).toBe(3)
    const spread = (of: (i: number) => string) => {
      const { tries } = limiter({ burst: 1_000, perSecond: 10 })
      return Array.from({ length: 200 }, (_, i) => tries(of(i), 1)).filter((entered) => entered > 0).length
    }
    expect(spread((i) => `2001:db8:1:${i.toString(16)}::1`)).toBe(4)
    expect(spread((i) => `2001:db8:1:${(i * 256).toString(16)}::1`)).toBe(6)
    expect(spread((i) => `2001:db8:${i.toString(16)}::1`)).toBe(200)
  })

  it('say when to retry, and report which address was refused', () => {
    const { take, tries, refused } = limiter()
    tries('192.0.2.1', 3)
    expect(() => take('192.0.2.1')).toThrow(new HubError('too_many_requests', { retryAfterMs: 1_000 }))
    expect(refused).toEqual(['192.0.2.1'])
  })

  it('return the token of a proven caller, up to the limit of proofs', () => {
    const { take, tries, proved } = limiter({ burst: 1_000, perSecond: 10 })
    for (let i = 0; i < 8; i++) {
      take('192.0.2.1')
      proved('192.0.2.1')
    }
    expect(tries('192.0.2.1', 10)).toBe(3)
    proved('192.0.2.1')
    expect(tries('192.0.2.1', 1)).toBe(0)
  })

  it('reserve capacity for known sites, however much strangers send', () => {
    const { tries, proved } = limiter()
    tries('192.0.2.1', 1)
    proved('192.0.2.1')
    for (let i = 0; i < 50; i++) tries(`198.51.${i}.1`, 1)
    expect(tries('203.0.113.1', 1)).toBe(0)
    expect(tries('192.0.2.1', 1)).toBe(1)
  })
})
