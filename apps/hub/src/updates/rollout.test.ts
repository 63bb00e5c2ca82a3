import { describe, expect, it } from 'vitest'
import { findHeld, isWithinHours, OPEN_MS, planRollout, SETTLE_MS, SILENT_MS } from './rollout.ts'

const NOW = 1_795_000_000_000
const LEFT = { candidates: 0, later: 0, away: 0, now: NOW }
const requests = (counts: { done?: number; asked?: number; failed?: number }, endedAt = NOW - 2 * SETTLE_MS) =>
  (['done', 'asked', 'failed'] as const).flatMap((state) =>
    Array.from({ length: counts[state] ?? 0 }, () => ({ state, name: 'Barn', message: 'Too hot.', ended_at: endedAt })),
  )
const plan = (counts: Parameters<typeof requests>[0], endedAt?: number) =>
  planRollout(requests(counts, endedAt), { ...LEFT, candidates: 1_000 })

it.each([
  ['one', {}, 1],
  ['one, and waits for it', { asked: 1 }, 0],
  ['ten in all', { done: 1 }, 9],
  ['ten in all, also when the hub restarted in the middle', { done: 3, asked: 2 }, 5],
  ['waits for the ten', { done: 1, asked: 9 }, 0],
  ['all, some at once', { done: 10 }, 50],
  ['all, as places become free', { done: 200, asked: 48 }, 2],
])('asks %s', (_, counts, expected) => {
  expect(plan(counts)).toMatchObject({ state: 'running', requests: expected })
})

it('asks no more gateways than there are', () => {
  expect(planRollout(requests({ done: 10 }), { ...LEFT, candidates: 3 }).requests).toBe(3)
  expect(planRollout([], LEFT).requests).toBe(0)
})

it.each([1, 10])('lets a ring of %i settle, by a clock that may be set back', (done) => {
  expect(plan({ done }, NOW - SETTLE_MS + 1).requests).toBe(0)
  expect(plan({ done }, NOW - SETTLE_MS).requests).toBeGreaterThan(0)
  expect(plan({ done }, NOW + 365 * 86_400_000).requests).toBeGreaterThan(0)
})

it.each([
  ['hours', { later: 2, away: 1 }, 'Waits for the hours of automatic updates.'],
  ['gateways', { away: 1 }, 'Waits for gateways that are offline.'],
  ['nothing', {}, 'Every gateway that can get it has it.'],
])('says that it waits for %s', (_, left, message) => {
  expect(planRollout(requests({ done: 3 }), { ...LEFT, ...left })).toEqual({ state: 'running', message, requests: 0 })
  expect(planRollout(requests({ done: 3, asked: 1 }), { ...LEFT, ...left }).message).not.toBe(message)
})

describe('a request holds the others back', () => {
  const request = { number: 7, version: '7', attempt: 1, by_name: null, message: '', ended_at: null, held_at: null }
  const asked = (id: string, { askedAt = NOW, heardAt = NOW as number | undefined, progress = '' } = {}) => ({
    ...request,
    gateway_id: id,
    name: id,
    state: 'asked' as const,
    asked_at: askedAt,
    heardAt,
    progress,
  })
  const done = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...asked(`done${index}`), state: 'done' as const }))
  const messages = (...seen: Parameters<typeof findHeld>[0][number][]) =>
    findHeld(seen, NOW).map(({ message }) => message)

  it('when its gateway is silent', () => {
    const askedAt = NOW - 2 * SILENT_MS
    expect(messages(asked('Barn', { askedAt, heardAt: NOW - SILENT_MS + 1 }))).toEqual([])
    expect(messages(asked('Barn', { askedAt: NOW - SILENT_MS + 1, heardAt: 0 }))).toEqual([])
    expect(messages(asked('Barn', { askedAt, heardAt: NOW - SILENT_MS }))).toEqual([
      'Gateway "Barn" was asked 1 h ago and has been silent for 30 min.',
    ])
    expect(messages({ ...asked('Barn', { askedAt }), heardAt: undefined })).toEqual([
      'Gateway "Barn" was asked 1 h ago and was not heard from since.',
    ])
  })

  it('when it has not ended after a day, with what the gateway said last', () => {
    const askedAt = NOW - OPEN_MS
    expect(messages(asked('Barn', { askedAt: askedAt + 1 }))).toEqual([])
    expect(messages(asked('Barn', { askedAt }), asked('Mill', { askedAt, progress: 'Waits: its hours.' }))).toEqual([
      'Gateway "Barn" was asked 1 d ago. It has not begun.',
      'Gateway "Mill" was asked 1 d ago. Its last report: Waits: its hours.',
    ])
  })

  it('but in the last ring only when every place is held', () => {
    const silent = Array.from({ length: 50 }, (_, index) =>
      asked(`G${index}`, { askedAt: NOW - SILENT_MS, heardAt: 0 }),
    )
    expect(messages(...done(9), silent[0]!)).toHaveLength(1)
    expect(messages(...done(10), ...silent.slice(1))).toEqual([])
    expect(messages(...done(10), ...silent)).toHaveLength(50)
  })
})

it('stops at the first failure, with its gateway and its reason', () => {
  const message = 'Gateway "Barn" was not updated: Too hot.'
  expect(plan({ done: 5, asked: 3, failed: 1 })).toEqual({ state: 'stopped', message, requests: 0 })
})

it('knows the hours of the day, also past midnight', () => {
  const at = (hour: number, minute: number) => new Date(2026, 10, 22, hour, minute).getTime()
  const times = [at(1, 59), at(2, 0), at(4, 59), at(5, 0), at(23, 0)]
  const within = (hours: string) => times.map((time) => isWithinHours(hours, time))
  expect(within('')).toEqual([true, true, true, true, true])
  expect(within('02:00-05:00')).toEqual([false, true, true, false, false])
  expect(within('22:30-02:00')).toEqual([true, false, false, false, true])
})

it('knows hours of some days', () => {
  // 2026-05-01 is a Friday.
  const within = (day: number, hour: number) =>
    isWithinHours('Mon-Fri 22:00-04:00', new Date(2026, 4, day, hour).getTime())
  expect([within(1, 23), within(2, 3), within(2, 23), within(4, 3), within(4, 22)]).toEqual([
    true,
    true,
    false,
    false,
    true,
  ])
})
