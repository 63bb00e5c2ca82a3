import { describe, expect, it } from 'vitest'
import { createLimiter, sourceKey } from './limiter.ts'

function limiter(capacity = 100) {
  let now = 0
  const { take } = createLimiter({
    perAddress: { burst: 3, perSecond: 1 },
    overall: { burst: 5, perSecond: 10 },
    clock: () => now,
    capacity,
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
  return { tries, advance: (ms: number) => (now += ms) }
}

describe('the limits on asking', () => {
  it('let an address burst, then go on at its rate', () => {
    const { tries, advance } = limiter()
    expect(tries('192.0.2.1', 10)).toBe(3)
    advance(2_000)
    expect(tries('192.0.2.1', 10)).toBe(2)
    advance(3_600_000)
    expect(tries('192.0.2.1', 10)).toBe(3)
  })

  it('do not let an address use up what the others have', () => {
    const { tries } = limiter()
    tries('192.0.2.1', 1_000)
    expect(tries('192.0.2.2', 1)).toBe(1)
  })

  it('bound all addresses together', () => {
    const { tries } = limiter()
    const entered = Array.from({ length: 50 }, (_, i) => tries(`192.0.2.${i}`, 1))
    expect(entered.filter(Boolean)).toHaveLength(5)
  })

  it('give nothing for a clock that was set back', () => {
    const { tries, advance } = limiter()
    tries('192.0.2.1', 10)
    advance(-3_600_000)
    expect(tries('192.0.2.1', 10)).toBe(0)
    advance(2_000)
    expect(tries('192.0.2.1', 10)).toBe(2)
  })
})

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
])('an address counts with its site: %s as %s', (address, key) => expect(sourceKey(address)).toBe(key))
