import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRefusals } from './refusals.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('a flood is counted in the metrics and logged at once, then once a minute, with its sources', () => {
  const lines: unknown[] = []
  const counted: string[] = []
  const refusals = createRefusals({
    log: { warn: (line: unknown) => void lines.push(line) },
    countRefusal: (limit) => counted.push(limit),
  })
  for (let i = 0; i < 1_000; i++) refusals.count('enrolment', i % 4 === 0 ? '203.0.113.1' : '2001:db8:1:2::7')
  expect(lines).toEqual([{ limit: 'enrolment', refused: 1, sources: [{ source: '203.0.113.1', refused: 1 }] }])
  vi.advanceTimersByTime(60_000)
  expect(lines[1]).toEqual({
    limit: 'enrolment',
    refused: 999,
    sources: [
      { source: '2001:db8:1:2::/64', refused: 750 },
      { source: '203.0.113.1', refused: 249 },
    ],
  })
  vi.advanceTimersByTime(600_000)
  expect(lines).toHaveLength(2)
  expect(counted).toHaveLength(1_000)
  refusals.count('enrolment', '203.0.113.1')
  refusals.count('enrolment', '203.0.113.1')
  refusals.stop()
  expect(lines).toHaveLength(4)
})
