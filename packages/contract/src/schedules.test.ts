import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  clockHoursIn,
  clockHoursText,
  isInHours,
  joinSchedules,
  parseSchedule,
  scheduleProblem,
  schedulesIn,
  WEEK_DAYS,
} from './schedules.ts'

const weekend = ['saturday', 'sunday']
const working = WEEK_DAYS.slice(0, 5)

test.each([
  ['22:00-06:00', WEEK_DAYS, '22:00', '06:00'],
  ['sunset-sunrise', WEEK_DAYS, 'sunset', 'sunrise'],
  ['Mon-Fri 18:00-06:00', working, '18:00', '06:00'],
  ['Mon-Fri sunset-sunrise', working, 'sunset', 'sunrise'],
  ['Sat,Sun', weekend, '00:00', '24:00'],
  ['Sat, Sun 00:00-24:00', weekend, '00:00', '24:00'],
  ['Sun sunset+30m-23:30', ['sunday'], 'sunset+30m', '23:30'],
  ['monday', ['monday'], '00:00', '24:00'],
  ['Mon–Fri 18:00–06:00', working, '18:00', '06:00'],
  ['Sat-Mon', ['monday', ...weekend], '00:00', '24:00'],
  ['Fri-Mon,Wed', ['monday', 'wednesday', 'friday', ...weekend], '00:00', '24:00'],
  ['Thurs', ['thursday'], '00:00', '24:00'],
])('%s', (text, days, from, to) => expect(parseSchedule(text)).toEqual({ days, from, to }))

test.each([
  ['Mo-Fr', 'Write Mon-Fri instead.'],
  ['Mo-Fr 18:00-06:00', 'Write Mon-Fri 18:00-06:00 instead.'],
  ['Di, Do 8-17', 'Write Tue, Thu 08:00-17:00 instead.'],
  ['22-06', 'Write 22:00-06:00 instead.'],
  ['6:00-7:00', 'Write 06:00-07:00 instead.'],
  ['22:00 - 06:00', 'Write 22:00-06:00 instead.'],
  ['sunset - 23:30', 'Write sunset-23:30 instead.'],
  ['Montag', 'Write Mon instead.'],
  ['at night', expect.stringMatching(/^Write hours as 22:00-06:00, .* and days as Mon-Fri 18:00-06:00 or Sat,Sun\.$/)],
  ['', expect.stringContaining('Write hours as')],
  ['25:00-26:00', expect.stringContaining('Write hours as')],
  ['Mon-Tue-Wed', expect.stringContaining('Write hours as')],
])('%s is no schedule', (text, problem) => {
  expect(parseSchedule(text)).toBeUndefined()
  expect(scheduleProblem(text)).toEqual(problem)
})

test('what to write instead is always a schedule', () => {
  const insteadOf = (text: string) => /^Write (.+) instead\.$/.exec(scheduleProblem(text))?.[1]
  const isRight = (text: string) => parseSchedule(insteadOf(text) ?? 'Mon') !== undefined
  expect(() => fc.assert(fc.property(fc.string({ maxLength: 30 }), isRight))).not.toThrow()
})

test.each([
  ['22:00-06:00, 12:00-13:00', ['22:00-06:00', '12:00-13:00']],
  ['Sat,Sun; Mon-Fri 18:00-06:00', ['Sat,Sun', 'Mon-Fri 18:00-06:00']],
  ['Sat, Sun 10:00-12:00, 22:00-23:00', ['Sat,Sun 10:00-12:00', '22:00-23:00']],
  ['Sat, sunset-sunrise', ['Sat', 'sunset-sunrise']],
  ['Mon 08:00-09:00, Tue 09:00-10:00', ['Mon 08:00-09:00', 'Tue 09:00-10:00']],
  [' , ', []],
])('several in one line: %s', (typed, schedules) => {
  expect(schedulesIn(typed)).toEqual(schedules)
  expect(schedulesIn(joinSchedules(schedules))).toEqual(schedules)
})

test('hours belong to the day on which they begin, in each minute of a week', () => {
  const days = fc.subarray([...WEEK_DAYS], { minLength: 1 })
  const minutes = fc.integer({ min: 0, max: 1_439 })
  const text = (at: number) => [at / 60, at % 60].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')
  fc.assert(
    fc.property(days, minutes, fc.integer({ min: 0, max: 1_440 }), (days, from, to) => {
      const expected = new Set<number>()
      const length = to < from ? to + 1_440 - from : to - from
      for (const day of days)
        for (let i = 0; i < length; i++) expected.add((WEEK_DAYS.indexOf(day) * 1_440 + from + i) % 10_080)
      const found = Array.from({ length: 10_080 }, (_, at) => at).filter((at) =>
        isInHours({ from: text(from), to: text(to), days }, Math.floor(at / 1_440), at % 1_440),
      )
      expect(found).toEqual([...expected].toSorted((a, b) => a - b))
    }),
    { numRuns: 30 },
  )
})

test.each([
  ['22:00-06:00', [{ from: '22:00', to: '06:00' }]],
  [
    'Mon-Fri 18:00-06:00; Sat,Sun',
    [
      { from: '18:00', to: '06:00', days: working },
      { from: '00:00', to: '24:00', days: weekend },
    ],
  ],
  ['Mon,Wed-Fri 08:00-24:00', [{ from: '08:00', to: '24:00', days: ['monday', 'wednesday', 'thursday', 'friday'] }]],
  ['', []],
])('hours of a clock: %s', (typed, hours) => {
  expect(clockHoursIn(typed)).toEqual({ hours })
  expect(clockHoursText(hours as Parameters<typeof clockHoursText>[0])).toBe(typed)
})

test('hours of a clock know no sun', () => {
  expect(clockHoursIn('22:00-06:00; sunset-sunrise')).toEqual({ problem: 'Write times, such as 22:00-06:00.' })
  expect(clockHoursIn('Mo-Fr 22:00-06:00')).toEqual({ problem: 'Write Mon-Fri 22:00-06:00 instead.' })
})
