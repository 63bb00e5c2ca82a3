import type { AuditEntry } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { groupRepeated } from './repeated.ts'

const entry = (second: number, change: Partial<AuditEntry> = {}): AuditEntry => ({
  id: String(second),
  at: `2026-11-20T10:00:${String(second).padStart(2, '0')}.000Z`,
  actor: 'rosa',
  action: 'settings.change',
  target: null,
  subject: null,
  sourceIp: '198.51.100.7',
  result: 'ok',
  reason: null,
  ...change,
})

test('equal entries in a row are one, with their number and the time of the first', () => {
  const flood = Array.from({ length: 41 }, (_, i) => entry(59 - i))
  const groups = groupRepeated([...flood, entry(10, { actor: 'sam' }), entry(9)])
  expect(
    groups.map(({ entry: { at, actor }, count, since }) => [actor, count, at.slice(17, 19), since.slice(17, 19)]),
  ).toEqual([
    ['rosa', 41, '59', '19'],
    ['sam', 1, '10', '10'],
    ['rosa', 1, '09', '09'],
  ])
})

test.each([
  { action: 'settings.read' },
  { target: 'x' },
  { sourceIp: null },
  { result: 'refused' },
  { reason: 'x' },
] as const)('an entry with another %j stands alone', (change) => {
  expect(groupRepeated([entry(2), entry(1, change)])).toHaveLength(2)
})
