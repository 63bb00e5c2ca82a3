import type { Detection } from '@hedgerow/contract'
import { isWithin, type Place } from '../kernel/hours.ts'
import type { Rule } from './schema.ts'

/** A detection that began longer ago is too old: a source that was disconnected reports it late. */
const BEGAN_AGO_MAX_MS = 600_000
/** After this time the object is gone. */
const ENDED_AGO_MAX_MS = 30_000

/**
 * The first reason, in words, why the rule does not fire for the detection at `at` (milliseconds since 1970). Undefined
 * when it fires.
 */
export function whyNot(rule: Rule, detection: Detection, at: number, place: Place): string | undefined {
  if (!rule.enabled) return 'the rule is not enabled'
  if (!includes(rule.labels, detection.label)) return `the label is ${detection.label}`
  if (rule.cameras && !rule.cameras.includes(detection.camera)) return `the camera is ${detection.camera}`
  if (rule.zones && (detection.zone === undefined || !rule.zones.includes(detection.zone)))
    return detection.zone === undefined ? 'it is in no zone' : `the zone is ${detection.zone}`
  if (detection.score < rule.minimumScore) return `the score ${detection.score} is below ${rule.minimumScore}`
  const outcome = outcomeOf(detection)
  if (outcome === 'rejected') return 'it was rejected'
  if (rule.verdict === 'confirmed' && outcome !== 'confirmed') return 'it is not confirmed'
  if (rule.hours && !isWithin(rule.hours, at, place, rule.days))
    return `it is outside ${[rule.hours].flat().join(', ')}${rule.days ? ` on ${rule.days.join(', ')}` : ''}`
  if (at - Date.parse(detection.startedAt) > BEGAN_AGO_MAX_MS) return 'it began more than 10 minutes ago'
  if (detection.endedAt !== undefined && at - Date.parse(detection.endedAt) > ENDED_AGO_MAX_MS)
    return 'it ended more than 30 seconds ago'
  return undefined
}

/** A person's review counts for more than the stages, and a later stage for more than an earlier one. */
function outcomeOf({ falsePositive, validated, verdicts }: Detection): 'confirmed' | 'rejected' | 'unsure' {
  if (falsePositive) return 'rejected'
  if (validated) return 'confirmed'
  return verdicts?.at(-1)?.outcome ?? 'unsure'
}

function includes(labels: readonly string[], label: string): boolean {
  return labels.some((each) => each.toLowerCase() === label.toLowerCase())
}
