import fc from 'fast-check'
import { expect, test } from 'vitest'
import { charged, spent, type Charge } from './budget.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const firings = fc.array(
  fc.record({ pauseMs: fc.integer({ min: 0, max: 2 * HOUR_MS }), seconds: fc.integer({ min: 0, max: 100 }) }),
  { maxLength: 200 },
)

test('the stored charges are never less than the time used', () => {
  fc.assert(
    fc.property(firings, fc.boolean(), (list, isDense) => {
      let now = 0
      let kept: Charge[] = []
      const all: Charge[] = []
      for (const { pauseMs, seconds } of list) {
        now += isDense ? pauseMs % 20_000 : pauseMs
        kept = charged(kept, { end: now, seconds })
        all.push({ end: now, seconds })
        const used = (windowMs: number) =>
          all.filter(({ end }) => end > now - windowMs).reduce((total, charge) => total + charge.seconds, 0)
        const said = spent(kept, now)
        expect(said.hour).toBeGreaterThanOrEqual(used(HOUR_MS))
        expect(said.day).toBeGreaterThanOrEqual(used(DAY_MS))
        // A merged charge counts for at most a minute longer.
        expect(said.hour).toBeLessThanOrEqual(used(HOUR_MS + 60_000))
        expect(kept.at(-1)!.end).toBe(now)
      }
    }),
  )
})

test('a day of firings takes little room', () => {
  let kept: Charge[] = []
  for (let now = 0; now < DAY_MS; now += 2_000) kept = charged(kept, { end: now, seconds: 1 })
  expect(kept.length).toBeLessThan(3_000)
})
