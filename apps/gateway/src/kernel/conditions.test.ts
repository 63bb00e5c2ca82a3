import { expect, test } from 'vitest'
import { createConditions, type Condition } from './conditions.ts'

test('a confirmed condition keeps the time when it became so; the heartbeat tells its last one', () => {
  const changes: Condition[] = []
  let now = Date.parse('2026-11-27T05:00:00Z')
  const conditions = createConditions(
    (condition) => changes.push(condition),
    () => now,
  )
  const at = () => conditions.conditions().flatMap((one) => (one.at === null ? [] : [`${one.step} ${one.at}`]))
  const confirm = () => {
    conditions.done('approved', 'as gateway 1')
    conditions.done('heartbeat', 'through the tunnel')
  }
  confirm()
  now += 60_000
  confirm()
  expect(at()).toEqual(['approved 2026-11-27T05:00:00.000Z', 'heartbeat 2026-11-27T05:01:00.000Z'])
  expect(changes).toHaveLength(2)
  conditions.failed('approved', 'Rejected: no')
  expect(at()[0]).toBe('approved 2026-11-27T05:01:00.000Z')
})
