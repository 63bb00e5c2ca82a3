import type { ActivityEntry } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { activityLines } from './activity-lines.ts'

const seen = { id: 'd', incidentId: 'i', hasThumbnail: true }

test('a rush of entries of one kind is one line among the others', () => {
  let at = Date.parse('2026-05-01T12:00:00Z')
  const entry = (id: string, kind: string, fields: Partial<ActivityEntry> = {}): ActivityEntry => ({
    id,
    message: id,
    timestamp: new Date((at -= 1_000)).toISOString(),
    type: 'info',
    gatewayId: null,
    kind,
    detection: null,
    ...fields,
  })
  const requests = Array.from({ length: 40 }, (_, index) => entry(`request ${index}`, 'registration.pending'))
  const pictures = ['boar', 'fox', 'deer'].map((id) => entry(id, 'detection.reported', { detection: seen }))
  const two = ['one', 'two'].map((id) => entry(id, 'gateway.approved'))
  const bad = entry('bad', 'registration.pending', { type: 'warning' })
  at -= 2 * 3_600_000
  const older = entry('older', 'registration.pending')
  const mixed = [...requests.slice(0, 20), ...pictures, ...requests.slice(20), ...two, bad, older]
  expect(activityLines(mixed).map(({ entry: { id }, others }) => [id, others])).toEqual([
    ['request 0', 39],
    ...['boar', 'fox', 'deer', 'one', 'two', 'bad', 'older'].map((id) => [id, 0]),
  ])
  expect(activityLines([])).toEqual([])
})
