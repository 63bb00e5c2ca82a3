import { afterEach, beforeEach, expect, it } from 'vitest'
import type { HubError } from '../kernel/hub-error.ts'
import { createLoadShedding, type LoadShedding } from './load-shedding.ts'

let now = 0
let told: unknown[] = []
let loadShedding: LoadShedding
beforeEach(() => {
  now = 0
  told = []
  loadShedding = createLoadShedding({
    log: { warn: (line: unknown) => told.push(line) },
    monotonic: () => now,
    random: () => 0.5,
  })
})
afterEach(() => loadShedding.stop())

/** Seconds in which the event loop is this late at every look. */
function live(
  seconds: number,
  { lateMs, calls, kind }: { lateMs: number; calls: number; kind: 'heartbeat' | 'other' },
) {
  const turns = Math.round((seconds * 1_000) / (50 + lateMs))
  const refused: HubError[] = []
  for (let turn = 0; turn < turns; turn++) {
    now += 50 + lateMs
    loadShedding.look()
    for (let call = 0; call < (calls * (50 + lateMs)) / 1_000; call++)
      try {
        loadShedding.check(kind)
      } catch (error) {
        refused.push(error as HubError)
      }
  }
  return refused
}

it('serves every call while the event loop is on time, however many come', () => {
  expect(live(5, { lateMs: 20, calls: 2_000, kind: 'other' })).toEqual([])
})

it('serves every call of a small fleet, however late the event loop is', () => {
  expect(live(10, { lateMs: 900, calls: 100, kind: 'heartbeat' })).toEqual([])
  expect(live(10, { lateMs: 900, calls: 100, kind: 'other' })).toEqual([])
})

it('refuses what waits on disks first, then heartbeats, with a time to come again, and serves them soon after', () => {
  expect(live(5, { lateMs: 120, calls: 600, kind: 'heartbeat' })).toEqual([])
  const [refusal] = live(5, { lateMs: 120, calls: 600, kind: 'other' })
  expect(refusal).toMatchObject({ code: 'hub_busy', status: 503, retryAfterMs: 10_000 })
  expect(live(5, { lateMs: 800, calls: 600, kind: 'heartbeat' }).length).toBeGreaterThan(0)
  expect(told).toEqual([{ refused: 1 }])
  live(2, { lateMs: 0, calls: 600, kind: 'heartbeat' })
  expect(live(2, { lateMs: 0, calls: 600, kind: 'other' })).toEqual([])
})

it('takes no single long task for load', () => {
  live(2, { lateMs: 0, calls: 600, kind: 'other' })
  now += 240
  loadShedding.look()
  expect(live(1, { lateMs: 0, calls: 600, kind: 'other' })).toEqual([])
})
