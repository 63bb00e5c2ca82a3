/** Whether a rule announces an incident. Pure. */
import { ANIMAL, isAnimalLabel, isInHours, type Alert, type AlertRuleFields } from '@hedgerow/contract'
import { dayAndMinute } from '../kernel/wall-clock.ts'

/** Where and when something is announced. */
export type Place = {
  /** Empty for the hub itself, which is at no site. */
  gatewayId: string
  siteId: string | null
  /** The tags of its gateway. */
  tags: readonly string[]
  /** When it is announced, in milliseconds since 1970. */
  at: number
}

/** What happened there. */
export type Occurrence = {
  kind: Alert['kind']
  label: string
  severity: 'alert' | 'detection'
  camera: string
  isValidated: boolean
}

const isAnyOf = (values: readonly string[], ...found: readonly string[]) =>
  values.length === 0 || found.some((value) => values.includes(value))

export function matches(rule: AlertRuleFields, candidate: Place & Occurrence): boolean {
  return coversPlace(rule, candidate) && coversOccurrence(rule, candidate)
}

/** Asked once for a place: when it is false, none of the detections there is matched. */
export function coversPlace(rule: AlertRuleFields, { gatewayId, siteId, tags, at }: Place): boolean {
  return (
    rule.enabled &&
    (gatewayId === '' ||
      (isAnyOf(rule.sites, siteId ?? '') && isAnyOf(rule.gateways, gatewayId) && isAnyOf(rule.tags, ...tags))) &&
    isWithin(rule.hours, at)
  )
}

export function coversOccurrence(rule: AlertRuleFields, occurrence: Occurrence): boolean {
  return (
    rule.what.some((kind) => kind === occurrence.kind) &&
    (occurrence.kind !== 'detection' || isWanted(rule, occurrence)) &&
    (occurrence.camera === '' || isAnyOf(rule.cameras, occurrence.camera))
  )
}

function isWanted(rule: AlertRuleFields, { severity, label, isValidated }: Occurrence): boolean {
  return (
    (rule.severity === 'any' || severity === 'alert') &&
    isAnyOf(rule.labels, label, ...(isAnimalLabel(label) ? [ANIMAL] : [])) &&
    (!rule.validatedOnly || isValidated)
  )
}

/** In this machine's time zone. */
function isWithin(hours: AlertRuleFields['hours'], at: number): boolean {
  const { day, minute } = dayAndMinute(at)
  return hours === null || [hours].flat().some((one) => isInHours(one, day, minute))
}
