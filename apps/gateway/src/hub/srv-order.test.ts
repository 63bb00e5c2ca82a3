import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { orderTargets } from './srv-order.ts'

const record = fc.record({ priority: fc.nat(3), weight: fc.nat(65_535), name: fc.string() })
const randomOf = (numbers: number[]) => {
  let index = 0
  return () => (numbers.length === 0 ? 0 : numbers[index++ % numbers.length]!)
}
const fractions = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1 })

describe('SRV targets (RFC 2782)', () => {
  test('every record appears exactly once, lower priorities first, for every random draw', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 12 }), fractions, (records, numbers) => {
        const ordered = orderTargets(records, randomOf(numbers))
        expect(new Set(ordered)).toEqual(new Set(records))
        expect(ordered.length).toBe(records.length)
        const priorities = ordered.map(({ priority }) => priority)
        expect(priorities).toEqual(priorities.toSorted((a, b) => a - b))
      }),
    )
  })

  test('the weights share the first place among one priority', () => {
    const records = [
      { priority: 0, weight: 0, name: 'zero' },
      { priority: 0, weight: 30, name: 'thirty' },
      { priority: 0, weight: 69, name: 'sixty-nine' },
    ]
    const firsts = Array.from({ length: 100 }, (_, mark) => orderTargets(records, () => (mark + 0.5) / 100)[0]!.name)
    const countOf = (name: string) => firsts.filter((first) => first === name).length
    expect(countOf('zero')).toBe(1)
    expect(countOf('thirty')).toBe(30)
    expect(countOf('sixty-nine')).toBe(69)
  })
})
