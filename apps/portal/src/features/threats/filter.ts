/**
 * The filter of incidents, in the address so that it can be shared and survives a reload. Pure;
 * the page reads and writes the address.
 */
import type { countIncidents, listIncidents, QueryOf, ResponseOf } from '@hedgerow/contract'

export type Filter = {
  review: 'any' | 'none' | 'right' | 'wrong'
  severity: 'any' | 'alert' | 'detection'
  labels: readonly string[]
  site: string
  /** A tag of the gateway; empty for any. */
  tag: string
  gateway: string
  camera: string
  fired: boolean
  /** Detections that gateways hold back, or ask people about again. */
  learning: 'any' | 'hidden' | 'doubtful'
  /** The id of an alert, for what it told of; empty for any. */
  alert: string
  /** Days as a date field has them, `to` included; or moments in UTC, `to` excluded. */
  from: string
  to: string
}

export const EVERYTHING: Filter = {
  review: 'any',
  severity: 'any',
  labels: [],
  site: '',
  tag: '',
  gateway: '',
  camera: '',
  fired: false,
  learning: 'any',
  alert: '',
  from: '',
  to: '',
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** Unknown values in the address are ignored. */
export function readFilter(parameters: URLSearchParams): Filter {
  const text = (name: string) => parameters.get(name) ?? ''
  const time = (name: string) => (DAY.test(text(name)) || isMoment(text(name)) ? text(name) : '')
  return {
    review: oneOf(text('review'), ['none', 'right', 'wrong']),
    severity: oneOf(text('severity'), ['alert', 'detection']),
    labels: text('label')
      .split(',')
      .filter((label) => label !== ''),
    site: text('site'),
    tag: text('tag'),
    gateway: text('gateway'),
    camera: text('gateway') === '' ? '' : text('camera'),
    fired: text('fired') === 'yes',
    learning: oneOf(text('learning'), ['hidden', 'doubtful']),
    alert: /^[\w-]{1,40}$/.test(text('alert')) ? text('alert') : '',
    from: time('from'),
    to: time('to'),
  }
}

/** Writes `filter` into `parameters`; omits defaults, and keeps other parameters. */
export function writeFilter(parameters: URLSearchParams, filter: Filter): URLSearchParams {
  const next = new URLSearchParams(parameters)
  const say = (name: string, value: string) =>
    value === '' || value === 'any' ? next.delete(name) : next.set(name, value)
  say('review', filter.review)
  say('severity', filter.severity)
  say('label', filter.labels.join(','))
  say('site', filter.site)
  say('tag', filter.tag)
  say('gateway', filter.gateway)
  say('camera', filter.gateway === '' ? '' : filter.camera)
  say('fired', filter.fired ? 'yes' : '')
  say('learning', filter.learning)
  say('alert', filter.alert)
  say('from', filter.from)
  say('to', filter.to)
  return next
}

type Query = NonNullable<QueryOf<typeof listIncidents>>

/** Days begin at the browser's midnight. */
export function queryOf({
  review,
  severity,
  labels,
  site,
  tag,
  gateway,
  camera,
  fired,
  learning,
  alert,
  from,
  to,
}: Filter): Query {
  return {
    ...(review !== 'any' && { review }),
    ...(severity !== 'any' && { severity }),
    ...(labels.length > 0 && { label: labels.join(',') }),
    ...(site !== '' && { site }),
    ...(tag !== '' && { tag }),
    ...(gateway !== '' && { gateway }),
    ...(camera !== '' && gateway !== '' && { camera }),
    ...(fired && { fired: 'yes' }),
    ...(learning !== 'any' && { learning }),
    ...(alert !== '' && { alert }),
    ...(from !== '' && { from: isMoment(from) ? from : midnight(from, 0) }),
    ...(to !== '' && { to: isMoment(to) ? to : midnight(to, 1) }),
  }
}

type Groups = ResponseOf<typeof countIncidents>['groups']
type Facet = 'label' | 'severity' | 'review' | 'fired'

/** The number of incidents for each value of one facet under the other filters, the most frequent first. */
export function countsOf(
  groups: Groups,
  facet: Facet,
  { labels, severity, review, fired }: Filter,
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { isFired, ...group } of groups) {
    const isAsked =
      (facet === 'label' || labels.length === 0 || labels.includes(group.label)) &&
      (facet === 'severity' || severity === 'any' || severity === group.severity) &&
      (facet === 'review' || review === 'any' || review === group.review) &&
      (facet === 'fired' || !fired || isFired)
    const value = facet === 'fired' ? (isFired ? 'yes' : 'no') : group[facet]
    if (isAsked) counts.set(value, (counts.get(value) ?? 0) + group.count)
  }
  return new Map([...counts].toSorted(([a, many], [b, more]) => more - many || a.localeCompare(b)))
}

function oneOf<Value extends string>(text: string, values: readonly Value[]): Value | 'any' {
  return values.find((value) => value === text) ?? 'any'
}

/** Whether it is a moment and not a day: an hour of the dashboard's chart, for example. */
export function isMoment(text: string): boolean {
  return MOMENT.test(text) && !Number.isNaN(Date.parse(text))
}

/** Calendar days, because a day with a change of the clock has 23 or 25 hours. */
function midnight(day: string, daysLater: number): string {
  const date = new Date(`${day}T00:00:00`)
  date.setDate(date.getDate() + daysLater)
  return date.toISOString()
}
