/** A rule in its form: lists are texts with commas. Pure. */
import type { AlertKind, AlertRule, AlertRuleFields, AlertStep, Language } from '@hedgerow/contract'
import { clockHoursIn, clockHoursText } from '@hedgerow/contract/schedules'
import { tagsIn } from '#api/tags.ts'

export type Values = {
  name: string
  severity: 'alert' | 'any'
  labels: string
  /** Ids. */
  sites: readonly string[]
  tags: string
  cameras: string
  validatedOnly: boolean
  /** `22:00-06:00`, or `Mon-Fri 18:00-06:00; Sat,Sun`; empty for always. */
  hours: string
  collectSeconds: number
  coolDownSeconds: number
  channels: readonly string[]
  people: readonly string[]
  steps: readonly AlertStep[]
  /** Null for the hub's. */
  language: Language | null
  breaksThrough: boolean
  what: readonly AlertKind[]
  holdOffMinutes: number
}

export const NEW: Values = {
  name: '',
  severity: 'alert',
  labels: '',
  sites: [],
  tags: '',
  cameras: '',
  validatedOnly: false,
  hours: '',
  collectSeconds: 3,
  coolDownSeconds: 300,
  channels: [],
  people: [],
  steps: [],
  language: null,
  breaksThrough: false,
  what: ['detection'],
  holdOffMinutes: 5,
}

export function valuesOf({ labels, sites, tags, cameras, hours, ...rule }: AlertRule): Values {
  return {
    name: rule.name,
    severity: rule.severity,
    labels: labels.join(', '),
    sites,
    tags: tags.join(', '),
    cameras: cameras.join(', '),
    validatedOnly: rule.validatedOnly,
    hours: clockHoursText(hours),
    collectSeconds: rule.collectSeconds,
    coolDownSeconds: rule.coolDownSeconds,
    channels: rule.channels,
    people: rule.people,
    steps: rule.steps,
    language: rule.language,
    breaksThrough: rule.breaksThrough,
    what: rule.what,
    holdOffMinutes: rule.holdOffMinutes,
  }
}

/** `existing` supplies the fields that the form does not show. */
export function fieldsOf(values: Values, existing?: AlertRule): AlertRuleFields {
  return {
    ...values,
    channels: [...values.channels],
    people: [...values.people],
    what: [...values.what],
    steps: [...values.steps],
    labels: listOf(values.labels),
    sites: [...values.sites],
    tags: tagsIn(values.tags),
    cameras: listOf(values.cameras),
    hours: hoursOf(values.hours),
    enabled: existing?.enabled ?? true,
    gateways: existing?.gateways ?? [],
  }
}

function hoursOf(typed: string): AlertRuleFields['hours'] {
  const found = clockHoursIn(typed)
  return 'problem' in found || found.hours.length === 0 ? null : found.hours
}

function listOf(text: string): string[] {
  return [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '')
}

/** What a rule can announce, in words for people. */
export const KINDS: readonly (readonly [AlertKind, string])[] = [
  ['detection', 'What cameras see'],
  ['gateway-quiet', 'Gateways that are offline'],
  ['gateway-warning', 'Gateways with a warning'],
  ['camera-dark', 'Cameras without new pictures'],
  ['deterrent-failed', 'Deterrents that fail'],
  ['disk', 'A full disk of the hub'],
  ['approval', 'Devices that ask to join'],
  ['certificate', 'A certificate that expires'],
  ['backup', 'A backup that fails'],
]

/** Only the first begins with a capital letter. */
const asList = ([first = '', ...others]: readonly string[]) =>
  [first, ...others.map((words) => words.charAt(0).toLowerCase() + words.slice(1))].join(', ')

/** A rule's conditions, in one line. `nameOf` is the name of a site. */
export function inWords(rule: AlertRuleFields, nameOf: (siteId: string) => string): string {
  const { sites, tags, cameras, gateways, hours, steps, what } = rule
  const kinds = KINDS.filter(([kind]) => kind !== 'detection' && what.includes(kind)).map(([, words]) => words)
  return [
    ...(what.includes('detection') ? [detectionsInWords(rule)] : []),
    ...(kinds.length > 0 ? [asList(kinds)] : []),
    ...(sites.length > 0 ? [`at ${sites.map(nameOf).join(', ')}`] : []),
    ...(tags.length > 0 ? [`tagged ${tags.join(' or ')}`] : []),
    ...(cameras.length > 0 ? [`on ${cameras.join(', ')}`] : []),
    ...(gateways.length > 0 ? [`${gateways.length} ${gateways.length === 1 ? 'gateway' : 'gateways'}`] : []),
    ...(hours ? [clockHoursText(hours)] : []),
    ...(steps.length > 0 ? [`${steps.length} ${steps.length === 1 ? 'step' : 'steps'} until acknowledged`] : []),
  ].join(' · ')
}

function detectionsInWords({ severity, labels, validatedOnly }: AlertRuleFields): string {
  const what = labels.length > 0 ? labels.join(', ') : severity === 'alert' ? 'Every alert' : 'Everything seen'
  return [
    labels.length > 0 && severity === 'alert' ? `${what}, alerts only` : what,
    ...(validatedOnly ? ['confirmed by the second look'] : []),
  ].join(' · ')
}
