/**
 * Days of the week and hours, as files and settings write them: `22:00-06:00`, `Mon-Fri 18:00-06:00`, `Sat,Sun`. Hours
 * belong to the day on which they begin. Browsers load this file without the schemas.
 */

/** In the order of ISO 8601. */
export const WEEK_DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type WeekDay = (typeof WEEK_DAYS)[number]

const WHOLE_DAY = ['00:00', '24:00'] as const
const POINT = String.raw`(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00|(?:sunrise|sunset)(?:[+-]\d{1,3}m)?)`
const RANGE = new RegExp(`^(${POINT})-(${POINT})$`)
/** Of a phone's keyboard or a text processor. */
const LONG_DASHES = /[‐-―−]/g
const SHORTEST_DAY = 3
/** In English and in German. */
const SHORT_DAYS = ['mo', 'tu di', 'we mi', 'th do', 'fr', 'sa', 'su so']

export type DaysAndHours = { days: readonly WeekDay[]; from: string; to: string }

/** Undefined when it is none: `scheduleProblem` says why. */
export function parseSchedule(text: string): DaysAndHours | undefined {
  const words = plain(text).split(/\s+/)
  const range = RANGE.exec(words.at(-1)!)
  const [, from, to] = range ?? ['', ...WHOLE_DAY]
  const listed = range ? words.slice(0, -1) : words
  const days = listed.length === 0 ? WEEK_DAYS : daysIn(listed.join(''))
  return days && { days, from: from!, to: to! }
}

/** What to write instead, as near as can be. */
export function scheduleProblem(text: string): string {
  const meant = plain(text)
    .replace(/[a-z]+/g, (word) => (word === 'm' ? word : (shortDay(word) ?? word)))
    .replace(/(?<![\d:+])(\d{1,2})(?::(\d\d))?(?![\d:m])/g, (_, hour: string, minute = '00') => {
      return `${hour.padStart(2, '0')}:${minute as string}`
    })
    .replace(/(\d|sunrise|sunset)\s+-\s+(?=\d|sun)/g, '$1-')
  if (parseSchedule(meant)) return `Write ${meant} instead.`
  return (
    'Write hours as 22:00-06:00, sunset-sunrise, or one of each, such as sunset+30m-23:30, and days as ' +
    'Mon-Fri 18:00-06:00 or Sat,Sun.'
  )
}

/** `Sat,Sun` and `Mon-Fri` stay together where commas stand between several schedules. */
export function schedulesIn(typed: string): string[] {
  const found: string[] = []
  for (const part of typed.split(/([,;])/)) {
    const text = part.trim()
    const last = found.at(-1)
    if (text === ';') found.push('')
    else if (text === ',' || text === '') continue
    else if (last && areOnlyDays(last) && /^[A-Za-z]/.test(text) && !/^sun[rs]/i.test(text))
      found[found.length - 1] = `${last},${text}`
    else found.push(text)
  }
  return found.filter((text) => text !== '')
}

/** The opposite of `schedulesIn`. */
export function joinSchedules(schedules: readonly string[]): string {
  return schedules.join(schedules.some((one) => one.includes(',') || areOnlyDays(one)) ? '; ' : ', ')
}

const areOnlyDays = (text: string) => /^[A-Za-z][A-Za-z,\s‐-―−-]*$/.test(text) && !/sun[rs]/i.test(text)

const plain = (text: string) => text.trim().toLowerCase().replaceAll(LONG_DASHES, '-')

function daysIn(text: string): WeekDay[] | undefined {
  const days = new Set<number>()
  for (const part of text.split(',')) {
    const [first, last = first, ...more] = part.split('-').map((name) => dayNumber(name.trim()))
    if (first === undefined || last === undefined || more.length > 0) return undefined
    // `Fri-Mon` goes past the end of the week.
    for (let day = first; ; day = (day + 1) % WEEK_DAYS.length) {
      days.add(day)
      if (day === last) break
    }
  }
  return WEEK_DAYS.filter((_, day) => days.has(day))
}

/** `mon`, `monday`, and what is between, such as `thurs`. */
function dayNumber(name: string): number | undefined {
  const found = WEEK_DAYS.findIndex((day) => name.length >= SHORTEST_DAY && day.startsWith(name))
  return found < 0 ? undefined : found
}

function shortDay(word: string): string | undefined {
  if (/^sun(?:rise|set)$/.test(word)) return undefined
  const found = dayNumber(word) ?? SHORT_DAYS.findIndex((names) => names.split(' ').includes(word.slice(0, 2)))
  return found < 0 ? undefined : short(found)
}

const short = (day: number) => `${WEEK_DAYS[day]!.charAt(0).toUpperCase()}${WEEK_DAYS[day]!.slice(1, SHORTEST_DAY)}`

/** Hours of a clock, without the sun; undefined when it is none. */
export function parseClockHours(text: string): DaysAndHours | undefined {
  const parsed = parseSchedule(text)
  return parsed && [parsed.from, parsed.to].every((point) => /^\d/.test(point)) ? parsed : undefined
}

/** Hours by the clock on a wall. Without `days` each day. `to` may be `24:00`. */
export type ClockHours = { from: string; to: string; days?: WeekDay[] | undefined }

/** Hours of a clock as a person types them; none for an empty text. */
export function clockHoursIn(typed: string): { hours: ClockHours[] } | { problem: string } {
  const texts = schedulesIn(typed)
  const hours = texts.flatMap((text) => parseClockHours(text) ?? [])
  const wrong = texts.find((text) => parseClockHours(text) === undefined)
  if (wrong !== undefined)
    return { problem: parseSchedule(wrong) ? 'Write times, such as 22:00-06:00.' : scheduleProblem(wrong) }
  return {
    hours: hours.map(({ days, ...times }) => (days.length < WEEK_DAYS.length ? { ...times, days: [...days] } : times)),
  }
}

/** The opposite of `clockHoursIn`. */
export function clockHoursText(hours: ClockHours | readonly ClockHours[] | null): string {
  const list: readonly ClockHours[] = hours === null ? [] : 'from' in hours ? [hours] : hours
  return joinSchedules(
    list.map(({ from, to, days }) => {
      if (!days) return `${from}-${to}`
      const isWhole = from === WHOLE_DAY[0] && to === WHOLE_DAY[1]
      return isWhole ? daysText(days) : `${daysText(days)} ${from}-${to}`
    }),
  )
}

function daysText(days: readonly WeekDay[]): string {
  const runs: number[][] = []
  for (const [day, name] of WEEK_DAYS.entries()) {
    if (!days.includes(name)) continue
    if (runs.at(-1)?.at(-1) === day - 1) runs.at(-1)!.push(day)
    else runs.push([day])
  }
  const inWords = (run: number[]) =>
    run.length > 2 ? `${short(run[0]!)}-${short(run.at(-1)!)}` : run.map(short).join(',')
  return runs.map(inWords).join(',')
}

/** `day` counts from Monday, which is 0. `from` is included, `to` is not; an end before the beginning is next day. */
export function isInHours(
  { from, to, days = WEEK_DAYS }: Omit<ClockHours, 'days'> & { days?: readonly WeekDay[] | undefined },
  day: number,
  minute: number,
): boolean {
  const [begin, end] = [minuteOf(from), minuteOf(to)]
  const yesterday = (day + WEEK_DAYS.length - 1) % WEEK_DAYS.length
  const on = (one: number) => days.includes(WEEK_DAYS[one]!)
  if (begin <= end) return on(day) && minute >= begin && minute < end
  return (on(day) && minute >= begin) || (on(yesterday) && minute < end)
}

export function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return hour * 60 + minute
}
