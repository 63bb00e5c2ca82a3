/** A rule as its form has it: lists are texts with commas. Pure. */
import type { AlertRule, AlertRuleFields, AlertStep, Language } from '@hedgerow/contract'

export type Values = {
  name: string
  severity: 'alert' | 'any'
  labels: string
  sites: string
  cameras: string
  validatedOnly: boolean
  from: string
  to: string
  collectSeconds: number
  coolDownSeconds: number
  channels: readonly string[]
  people: readonly string[]
  steps: readonly AlertStep[]
  language: Language
  breaksThrough: boolean
}

export const NEW: Values = {
  name: '',
  severity: 'alert',
  labels: '',
  sites: '',
  cameras: '',
  validatedOnly: false,
  from: '',
  to: '',
  collectSeconds: 3,
  coolDownSeconds: 300,
  channels: [],
  people: [],
  steps: [],
  language: 'en',
  breaksThrough: false,
}

export function valuesOf({ labels, sites, cameras, hours, ...rule }: AlertRule): Values {
  return {
    name: rule.name,
    severity: rule.severity,
    labels: labels.join(', '),
    sites: sites.join(', '),
    cameras: cameras.join(', '),
    validatedOnly: rule.validatedOnly,
    from: hours?.from ?? '',
    to: hours?.to ?? '',
    collectSeconds: rule.collectSeconds,
    coolDownSeconds: rule.coolDownSeconds,
    channels: rule.channels,
    people: rule.people,
    steps: rule.steps,
    language: rule.language,
    breaksThrough: rule.breaksThrough,
  }
}

/** `known` keeps what the form does not show. */
export function fieldsOf({ from, to, ...values }: Values, known?: AlertRule): AlertRuleFields {
  return {
    ...values,
    channels: [...values.channels],
    people: [...values.people],
    steps: [...values.steps],
    labels: listOf(values.labels),
    sites: listOf(values.sites),
    cameras: listOf(values.cameras),
    hours: from === '' && to === '' ? null : { from, to },
    enabled: known?.enabled ?? true,
    gateways: known?.gateways ?? [],
  }
}

function listOf(text: string): string[] {
  return [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '')
}

/** What a rule tells of, in one line. */
export function inWords({
  severity,
  labels,
  sites,
  cameras,
  gateways,
  hours,
  validatedOnly,
  steps,
}: AlertRuleFields): string {
  const what = labels.length > 0 ? labels.join(', ') : severity === 'alert' ? 'Every alert' : 'Everything seen'
  return [
    labels.length > 0 && severity === 'alert' ? `${what}, alerts only` : what,
    ...(validatedOnly ? ['confirmed by the second look'] : []),
    ...(sites.length > 0 ? [`at ${sites.join(', ')}`] : []),
    ...(cameras.length > 0 ? [`on ${cameras.join(', ')}`] : []),
    ...(gateways.length > 0 ? [`${gateways.length} ${gateways.length === 1 ? 'gateway' : 'gateways'}`] : []),
    ...(hours ? [`${hours.from} to ${hours.to}`] : []),
    ...(steps.length > 0 ? [`${steps.length} ${steps.length === 1 ? 'step' : 'steps'} until acknowledged`] : []),
  ].join(' · ')
}
