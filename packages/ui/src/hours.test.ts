import { execFileSync } from 'node:child_process'
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

/** The labels of hours from `first` on in another time zone, which a process takes at its start. */
function labelsIn(TZ: string, first: string, count: number): { ticks: string[]; hours: string[] } {
  const program = `
    const { hourLabel, tickLabel } = await import(${JSON.stringify(new URL('hours.ts', import.meta.url).href)})
    const hours = Array.from({ length: ${count} }, (_, i) =>
      new Date(Date.parse('${first}') + i * 3_600_000).toISOString())
    console.log(JSON.stringify({ ticks: hours.map(tickLabel).filter(Boolean), hours: hours.map(hourLabel) }))`
  const env = { TZ, LANG: 'en_GB.UTF-8', LC_ALL: 'en_GB.UTF-8' }
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { env, encoding: 'utf8' }),
  ) as {
    ticks: string[]
    hours: string[]
  }
}

it('names hours by when they begin in zones of half and of a quarter of an hour', () => {
  const india = labelsIn('Asia/Kolkata', '2026-11-20T18:00:00Z', 26)
  expect(india.ticks).toEqual(['00:30', '04:30', '08:30', '12:30', '16:30', '20:30', '00:30'])
  expect(india.hours[0]).toContain(', 23:30 – 00:30')
  expect(labelsIn('Asia/Kathmandu', '2026-11-20T18:00:00Z', 6).hours[0]).toContain(', 23:45 – 00:45')
})

it('tells the hours apart when the clock is set, and names none twice', () => {
  const autumn = labelsIn('Europe/Berlin', '2026-10-24T22:00:00Z', 25)
  expect(autumn.ticks).toEqual(['00:00', '04:00', '08:00', '12:00', '16:00', '20:00'])
  expect(new Set(autumn.hours).size).toBe(25)
  expect(autumn.hours[2]).toMatch(/, 02:00 (CEST|GMT\+2) – 02:00 (CET|GMT\+1)$/)
  expect(autumn.hours[3]).toMatch(/, 02:00 (CET|GMT\+1) – 03:00 (CET|GMT\+1)$/)
  const spring = labelsIn('Europe/Berlin', '2026-03-28T23:00:00Z', 23)
  expect(spring.hours[1]).toMatch(/, 01:00 (CET|GMT\+1) – 03:00 (CEST|GMT\+2)$/)
  expect(spring.hours[5]).toMatch(/, 06:00 – 07:00$/)
  expect(labelsIn('America/Havana', '2026-10-31T04:00:00Z', 40).ticks.filter((tick) => tick === '00:00')).toHaveLength(
    2,
  )
})
