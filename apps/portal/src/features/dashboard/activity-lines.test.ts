import type { ActivityEntry } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { activityLines } from './activity-lines.ts'

const NOON = Date.parse('2026-05-01T12:00:00Z')

function entry(message: string, secondsAgo: number, fields: Partial<ActivityEntry> = {}): ActivityEntry {
  return {
    id: `${message} ${secondsAgo}`,
    message,
    timestamp: new Date(NOON - secondsAgo * 1_000).toISOString(),
    type: 'info',
    gatewayId: null,
    kind: 'registration.pending',
    detection: null,
    ...fields,
  }
}

const rows = (entries: readonly ActivityEntry[]) =>
  activityLines(entries).map(({ entry: { message }, times }) => [message, times])

test('entries of one kind that say different things are rows of their own, as many as came', () => {
  const devices = Array.from({ length: 40 }, (_, index) => entry(`Device ${index} waits`, index))
  expect(rows(devices)).toEqual(devices.map(({ message }) => [message, 1]))
})

test('what repeats within a minute is one row, where its newest entry is, and what repeats later another', () => {
  const other = entry('Barn is offline', 5)
  const many = [0, 10, 20, 60, 61, 100, 121.1].map((ago) => entry('Mill asks again', ago))
  expect(rows([many[0]!, other, ...many.slice(1)])).toEqual([
    ['Mill asks again', 4],
    ['Barn is offline', 1],
    ['Mill asks again', 2],
    ['Mill asks again', 1],
  ])
})

test('the same words of another gateway, type or picture repeat nothing', () => {
  const seen = { incidentId: 'i', hasThumbnail: true }
  const entries = [
    entry('Boar', 0, { gatewayId: 'a' }),
    entry('Boar', 1, { gatewayId: 'b' }),
    entry('Boar', 2, { gatewayId: 'b', type: 'warning' }),
    entry('Boar', 3, { gatewayId: 'b', detection: { ...seen, id: '1' } }),
    entry('Boar', 4, { gatewayId: 'b', detection: { ...seen, id: '2' } }),
  ]
  expect(rows(entries)).toEqual(entries.map(() => ['Boar', 1]))
  expect(rows([])).toEqual([])
})
