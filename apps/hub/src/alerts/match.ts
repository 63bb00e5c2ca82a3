/** Whether a rule announces an incident. Pure. */
import type { Alert, AlertRuleFields } from '@hedgerow/contract'

export type Candidate = {
  kind: Alert['kind']
  /** Empty for the hub itself, which has no location. */
  gatewayId: string
  location: string
  /** The tags of its gateway. */
  tags: readonly string[]
  label: string
  severity: 'alert' | 'detection'
  camera: string
  isValidated: boolean
  /** When it is announced, in milliseconds since 1970. */
  at: number
}

const isAnyOf = (values: readonly string[], ...found: readonly string[]) =>
  values.length === 0 || found.some((value) => values.includes(value))

export function matches(rule: AlertRuleFields, candidate: Candidate): boolean {
  return (
    rule.enabled &&
    rule.what.some((kind) => kind === candidate.kind) &&
    (candidate.kind !== 'detection' || isWanted(rule, candidate)) &&
    (candidate.gatewayId === '' ||
      (isAnyOf(rule.sites, candidate.location) &&
        isAnyOf(rule.gateways, candidate.gatewayId) &&
        isAnyOf(rule.tags, ...candidate.tags))) &&
    (candidate.camera === '' || isAnyOf(rule.cameras, candidate.camera)) &&
    isWithin(rule.hours, candidate.at)
  )
}

function isWanted(rule: AlertRuleFields, { severity, label, isValidated }: Candidate): boolean {
  return (
    (rule.severity === 'any' || severity === 'alert') &&
    isAnyOf(rule.labels, label) &&
    (!rule.validatedOnly || isValidated)
  )
}

/** In this machine's time zone; `from` is included, `to` is not. */
function isWithin(hours: AlertRuleFields['hours'], at: number): boolean {
  if (hours === null) return true
  const date = new Date(at)
  const minute = date.getHours() * 60 + date.getMinutes()
  const [from, to] = [minuteOf(hours.from), minuteOf(hours.to)]
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to
}

function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return hour * 60 + minute
}
