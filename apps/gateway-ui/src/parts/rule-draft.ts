/** A rule of gateway.yaml as the fields of its form. */
import { joinSchedules, schedulesIn, WEEK_DAYS } from '@hedgerow/contract/schedules'

export type RuleDraft = {
  name: string
  labels: string[]
  /** Empty for all. */
  cameras: string[]
  /** Empty for the whole picture. */
  zones: string[]
  when: 'always' | 'night' | 'hours' | 'other'
  from: string
  to: string
  /** Hours as gateway.yaml writes them, several with commas or semicolons between. */
  other: string
  days: string[]
  /** In percent; empty for any. */
  score: number | ''
  isConfirmed: boolean
  fire: string[]
  choose: 'all' | 'one'
  /** Empty for the deterrent's own. */
  seconds: number | ''
  /** For a random length. */
  secondsMost: number | ''
  aboutPersons: boolean
}

export type WrittenRule = { [key: string]: unknown }

const NIGHT = 'sunset-sunrise'
const WHOLE_DAY = '00:00-24:00'
const CLOCK = /^(\d\d:\d\d)-(\d\d:\d\d)$/

export function draftOf(rule: WrittenRule): RuleDraft {
  const hours = [rule['hours'] ?? []].flat().map(String)
  const clock = hours.length === 1 ? CLOCK.exec(hours[0]!) : null
  const isWholeDay = hours.length === 1 && hours[0] === WHOLE_DAY
  const [least, most] = [rule['seconds'] ?? ''].flat() as (number | '')[]
  const score = rule['minimumScore']
  return {
    name: String(rule['name'] ?? ''),
    labels: textsIn(rule, 'labels'),
    cameras: textsIn(rule, 'cameras'),
    zones: textsIn(rule, 'zones'),
    when: hours.length === 0 || isWholeDay ? 'always' : hours.join() === NIGHT ? 'night' : clock ? 'hours' : 'other',
    from: clock?.[1] ?? '22:00',
    to: clock?.[2] ?? '06:00',
    other: joinSchedules(hours),
    days: rule['days'] === undefined ? [...WEEK_DAYS] : textsIn(rule, 'days'),
    score: typeof score === 'number' && score > 0 ? Math.round(score * 10_000) / 100 : '',
    isConfirmed: rule['verdict'] === 'confirmed',
    fire: textsIn(rule, 'fire'),
    choose: rule['choose'] === 'one' ? 'one' : 'all',
    seconds: least ?? '',
    secondsMost: most ?? '',
    aboutPersons: rule['aboutPersons'] === true,
  }
}

/** Its hours need the place of the device. */
export const followsSun = ({ when, other }: RuleDraft) =>
  when === 'night' || (when === 'other' && /sunrise|sunset/.test(other))

/** The rule as gateway.yaml writes it; what the form does not show stays as in the rule before. */
export function ruleOf(draft: RuleDraft, before: WrittenRule): WrittenRule {
  const { labels, cameras, zones, days, fire, seconds, secondsMost } = draft
  const areSomeDays = days.length > 0 && days.length < WEEK_DAYS.length
  const parts: WrittenRule = {
    name: draft.name.trim(),
    labels,
    cameras: unlessEmpty(cameras),
    zones: unlessEmpty(zones),
    minimumScore: draft.score === '' ? undefined : Math.round(draft.score * 100) / 10_000,
    verdict: draft.isConfirmed ? 'confirmed' : undefined,
    hours: hoursOf(draft) ?? (areSomeDays ? WHOLE_DAY : undefined),
    days: areSomeDays ? days : undefined,
    fire,
    choose: draft.choose === 'one' && fire.length > 1 ? 'one' : undefined,
    seconds:
      seconds === '' || secondsMost === '' || seconds === secondsMost ? unlessEmpty(seconds) : [seconds, secondsMost],
    aboutPersons: draft.aboutPersons ? true : undefined,
  }
  const usual: WrittenRule = { minimumScore: 0, verdict: 'any', choose: 'all', aboutPersons: false }
  const all = Object.entries({ ...before, ...parts }).map(([key, value]) => {
    // A usual value that somebody wrote out stays.
    return [key, value === undefined && before[key] === usual[key] ? before[key] : value] as const
  })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/** A name for a rule that has none yet, which no other rule has. */
export function proposedName(
  { labels, cameras }: Pick<RuleDraft, 'labels' | 'cameras'>,
  taken: readonly string[],
): string {
  const what = labels.join(' or ')
  const name = cameras.length === 0 ? what : `${what} on ${cameras.join(' or ')}`
  const first = (name.slice(0, 1).toUpperCase() + name.slice(1)).slice(0, 90)
  const numbered = [first, ...taken.map((_, index) => `${first} ${index + 2}`)]
  return numbered.find((each) => !taken.includes(each)) ?? first
}

function hoursOf({ when, from, to, other }: RuleDraft): string | string[] | undefined {
  if (when === 'always') return undefined
  if (when === 'night') return NIGHT
  if (when === 'hours') return `${from}-${to}`
  const ranges = schedulesIn(other)
  return ranges.length > 1 ? ranges : (ranges[0] ?? '')
}

function textsIn(rule: WrittenRule, key: string): string[] {
  const value = rule[key]
  return Array.isArray(value) ? value.map(String) : []
}

function unlessEmpty<T extends string | number | unknown[]>(value: T): T | undefined {
  return value === '' || (Array.isArray(value) && value.length === 0) ? undefined : value
}
