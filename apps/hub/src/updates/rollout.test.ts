import { expect, it } from 'vitest'
import { isWithinHours, planRollout, SETTLE_MS } from './rollout.ts'

const NOW = 1_795_000_000_000
const requests = (counts: { done?: number; asked?: number; failed?: number }, endedAt = NOW - 2 * SETTLE_MS) =>
  (['done', 'asked', 'failed'] as const).flatMap((state) =>
    Array.from({ length: counts[state] ?? 0 }, () => ({ state, message: state, ended_at: endedAt })),
  )
const plan = (counts: Parameters<typeof requests>[0], endedAt?: number) =>
  planRollout(requests(counts, endedAt), { candidates: 1_000, now: NOW })

it.each([
  ['one', {}, 1],
  ['one, and waits for it', { asked: 1 }, 0],
  ['ten in all', { done: 1 }, 9],
  ['ten in all, also when the hub restarted in the middle', { done: 3, asked: 2 }, 5],
  ['waits for the ten', { done: 1, asked: 9 }, 0],
  ['all, some at once', { done: 10 }, 50],
  ['all, as places become free', { done: 200, asked: 48 }, 2],
])('asks %s', (_, counts, ask) => {
  expect(plan(counts)).toMatchObject({ state: 'running', ask })
})

it('asks no more gateways than there are', () => {
  expect(planRollout(requests({ done: 10 }), { candidates: 3, now: NOW }).ask).toBe(3)
  expect(planRollout([], { candidates: 0, now: NOW }).ask).toBe(0)
})

it.each([1, 10])('lets a ring of %i settle, by a clock that may be set back', (done) => {
  expect(plan({ done }, NOW - SETTLE_MS + 1).ask).toBe(0)
  expect(plan({ done }, NOW - SETTLE_MS).ask).toBeGreaterThan(0)
  expect(plan({ done }, NOW + 365 * 86_400_000).ask).toBeGreaterThan(0)
})

it('stops at the first failure, with its reason', () => {
  expect(plan({ done: 5, asked: 3, failed: 1 })).toEqual({ state: 'stopped', message: 'failed', ask: 0 })
})

it('knows the hours of the day, also past midnight', () => {
  const at = (hour: number, minute: number) => new Date(2026, 10, 22, hour, minute).getTime()
  const times = [at(1, 59), at(2, 0), at(4, 59), at(5, 0), at(23, 0)]
  const within = (hours: string) => times.map((time) => isWithinHours(hours, time))
  expect(within('')).toEqual([true, true, true, true, true])
  expect(within('02:00-05:00')).toEqual([false, true, true, false, false])
  expect(within('22:30-02:00')).toEqual([true, false, false, false, true])
})
