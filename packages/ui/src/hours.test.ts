import { expect, it } from 'vitest'
import { hourLabel, tickLabel } from './hours.ts'

const localHour = (hour: number) => new Date(2026, 10, 21, hour).toISOString()

it('labels every fourth hour of the local day and leaves the others empty', () => {
  const labels = Array.from({ length: 24 }, (_, hour) => tickLabel(localHour(hour))).filter((label) => label !== '')
  expect(labels).toEqual(['00:00', '04:00', '08:00', '12:00', '16:00', '20:00'])
})

it('names the whole hour, also across midnight', () => {
  expect(hourLabel(localHour(23))).toContain('23:00 – 00:00')
})
