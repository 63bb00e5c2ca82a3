/** What a person typed into the form of a deterrent, and what gateway.yaml gets of it. */
import { joinSchedules, parseSchedule, schedulesIn } from '@hedgerow/contract/schedules'
import type { DeterrentField, DeterrentKind } from '@hedgerow/contract/deterrent-setup'
import type { SettingsEdit } from '@hedgerow/contract/device-interface'

type Json = NonNullable<SettingsEdit['value']>
export type Written = Record<string, Json>
type Optional = Record<string, Json | undefined>

export type Limits = {
  seconds: string
  maximumSeconds: string
  coolDownSeconds: string
  secondsAnHour: string
  secondsADay: string
  /** Hours as gateway.yaml writes them, several with commas or semicolons between. */
  quietHours: string
  armed: string
  /** Whose sight of a person blocks it: `watchedBy` left out, listed, or empty. */
  people: 'all' | 'some' | 'none'
  cameras: string[]
}

export type Draft = { name: string; values: Record<string, string | boolean>; limits: Limits }

/** Short firings, a pause in which an animal can leave, and ten minutes of water a day. */
export const PROPOSED: Limits = {
  seconds: '10',
  maximumSeconds: '',
  coolDownSeconds: '30',
  secondsAnHour: '',
  secondsADay: '600',
  quietHours: '',
  armed: '',
  people: 'all',
  cameras: [],
}

const LIMIT_KEYS = ['seconds', 'maximumSeconds', 'coolDownSeconds', 'secondsAnHour', 'secondsADay'] as const
const HOURS_KEYS = ['quietHours', 'armed'] as const

export function draftOf(name: string, written: Written): Draft {
  const text = (key: string) => joinSchedules([written[key] ?? []].flat().map(String))
  const watchers = Array.isArray(written['watchedBy']) ? written['watchedBy'].map(String) : undefined
  return {
    name,
    values: Object.fromEntries(
      Object.entries(written)
        .filter(([, value]) => typeof value !== 'object')
        .map(([key, value]) => [key, typeof value === 'boolean' ? value : String(value)]),
    ),
    limits: {
      seconds: text('seconds'),
      maximumSeconds: text('maximumSeconds'),
      coolDownSeconds: text('coolDownSeconds'),
      secondsAnHour: text('secondsAnHour'),
      secondsADay: text('secondsADay'),
      quietHours: text('quietHours'),
      armed: text('armed'),
      people: watchers === undefined ? 'all' : watchers.length === 0 ? 'none' : 'some',
      cameras: watchers ?? [],
    },
  }
}

/** The values of the form as gateway.yaml has them; undefined for what it leaves out. */
export function writtenOf(kind: DeterrentKind, { values, limits }: Draft): Optional {
  const watchers = { all: undefined, some: limits.cameras, none: [] }
  return {
    driver: kind.driver,
    ...Object.fromEntries(kind.fields.map((field) => [field.key, valueOf(field, values[field.key])])),
    ...Object.fromEntries(LIMIT_KEYS.map((key) => [key, numberOf(limits[key])])),
    ...Object.fromEntries(HOURS_KEYS.map((key) => [key, hoursOf(limits[key])])),
    watchedBy: watchers[limits.people],
  }
}

/** What a device needs to be asked for its outputs: all but the choice of one. */
export function addressOf({ fields, outputKeys }: DeterrentKind, values: Draft['values']): Written {
  const asked = fields.filter(({ key }) => !outputKeys.includes(key))
  return given(Object.fromEntries(asked.map((field) => [field.key, valueOf(field, values[field.key])])))
}

/** `before`: the same values as the form found them; undefined for a new deterrent. */
export function editsOf(name: string, after: Optional, before?: Optional): SettingsEdit[] {
  if (!before) return [{ path: ['deterrents', name], value: given(after) }]
  return Object.entries(after).flatMap(([key, value]) => {
    if (JSON.stringify(value) === JSON.stringify(before[key])) return []
    return [{ path: ['deterrents', name, key], ...(value !== undefined && { value }) }]
  })
}

export function given(values: Optional): Written {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Written
}

function valueOf({ type, usual }: DeterrentField, typed: string | boolean | undefined): Json | undefined {
  if (type === 'switch') return typed === undefined || typed === usual ? undefined : typed
  if (typeof typed !== 'string' || typed === '') return undefined
  return type === 'number' ? numberOf(typed) : typed
}

/** What is no number stays as it was typed: the device says what is wrong with it. */
function numberOf(typed: string): number | string | undefined {
  const text = typed.trim()
  if (text === '') return undefined
  return /^-?\d+$/.test(text) ? Number(text) : text
}

function hoursOf(typed: string): string | string[] | undefined {
  const ranges = schedulesIn(typed)
  return ranges.length > 1 ? ranges : ranges[0]
}

/** What the limits mean: first when it must not fire, then for how long it does, and what blocks it. */
export function limitsInWords(limits: Limits): string {
  const { people, cameras, quietHours, armed } = limits
  const seconds = limits.seconds.trim() || '10'
  const longest = limits.maximumSeconds.trim() || seconds
  const hour = limits.secondsAnHour.trim() || leastOf(300, longest)
  const day = limits.secondsADay.trim() || leastOf(3_600, longest)
  const quiet = hoursInWords(quietHours, (hours) => `Nothing and nobody fires it ${hours}. `)
  const alone = hoursInWords(armed, (hours) => `Rules and programs fire it only ${hours}. `)
  const most = longest === seconds ? '' : `, for ${inWords(longest)} at most`
  const firing = `Fires for ${inWords(seconds)}${most}, then waits ${inWords(limits.coolDownSeconds || '30')}`
  const ofHour = Number(hour) >= Number(day) ? '' : `${inWords(hour)} an hour and `
  const budget = `At most ${ofHour}${inWords(day)} a day`
  const who =
    people === 'none'
      ? 'People do not block it'
      : people === 'all'
        ? 'A person on any camera blocks it, and so does a camera that does not look'
        : `A person on ${cameras.join(' or ') || '…'} blocks it, and so does one of them that does not look`
  return `${quiet}${alone}${firing}. ${budget}. ${who}.`
}

/** A budget that is left out has room for the longest firing. */
const leastOf = (usual: number, longest: string) =>
  String(/^\d+$/.test(longest) ? Math.max(usual, Number(longest)) : usual)

/** Nothing for no hours; what is no range of hours is not said. */
function hoursInWords(typed: string, sentence: (hours: string) => string): string {
  const ranges = schedulesIn(typed)
  return ranges.length === 0 ? '' : sentence(ranges.map((range) => (parseSchedule(range) ? range : '…')).join(' and '))
}

function inWords(typed: string): string {
  if (!/^\d+$/.test(typed.trim())) return '…'
  const seconds = Number(typed)
  const [count, unit] =
    seconds < 120 ? [seconds, 's'] : seconds < 7_200 ? [seconds / 60, 'min'] : [seconds / 3_600, 'h']
  return `${Math.round(count * 10) / 10} ${unit}`
}
