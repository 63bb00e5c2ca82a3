import { meansLabel, type Detection } from '@hedgerow/contract'
import { isWithin, type Place } from '../kernel/hours.ts'
import { isSameName } from '../kernel/same-name.ts'
import type { DetectedObject } from '../sources/source.ts'
import type { Rule } from './schema.ts'

/**
 * A detection that began longer ago is too old: a source that was disconnected reports it late. An object that its
 * source sees now is not.
 */
const BEGAN_AGO_MAX_MS = 600_000
/** After this time the object is gone. */
const ENDED_AGO_MAX_MS = 30_000

/** What a rule decides about: a detection, or one of its objects. */
export type Subject = Pick<
  Detection,
  'camera' | 'label' | 'score' | 'startedAt' | 'endedAt' | 'verdicts' | 'validated' | 'falsePositive'
> & {
  detectionId: string
  /** Undefined for the detection itself. */
  objectId: string | undefined
  /** Every zone that it entered. */
  zones: readonly string[]
  /** When it was last seen, if that is known. */
  seenAt?: string | undefined
}

/**
 * The detection, or each of its objects. A later stage and people judge the detection by its label: their verdict holds
 * for the objects with this label.
 */
export function subjectsOf(detection: Detection, objects: readonly DetectedObject[] | undefined): Subject[] {
  const { id: detectionId, camera, zone, verdicts, validated, falsePositive } = detection
  if (!objects) return [{ ...detection, detectionId, objectId: undefined, zones: zone === undefined ? [] : [zone] }]
  return objects.map(({ id, label, score, zones, startedAt, seenAt, endedAt }) => ({
    detectionId,
    objectId: id,
    camera,
    label,
    score,
    zones,
    startedAt,
    seenAt,
    endedAt,
    ...(label === detection.label && { verdicts, validated, falsePositive }),
  }))
}

/**
 * The first reason, in words, why the rule does not fire for the subject at `at` (milliseconds since 1970). Undefined
 * when it fires.
 */
export function whyNot(rule: Rule, subject: Subject, at: number, place: Place): string | undefined {
  if (!rule.enabled) return 'the rule is not enabled'
  if (!namesLabel(rule, subject.label)) return `the label is ${subject.label}`
  if (rule.cameras && !rule.cameras.some((each) => isSameName(each, subject.camera)))
    return `the camera is ${subject.camera}`
  if (rule.zones && !subject.zones.some((zone) => rule.zones?.some((each) => isSameName(each, zone))))
    return subject.zones.length === 0 ? 'it is in no zone' : `the zone is ${subject.zones.join(' and ')}`
  if (subject.score < rule.minimumScore) return `the score ${subject.score} is below ${rule.minimumScore}`
  const outcome = outcomeOf(subject)
  if (outcome === 'rejected') return 'it was rejected'
  if (rule.verdict === 'confirmed' && outcome !== 'confirmed') return 'it is not confirmed'
  if (rule.hours && !isWithin(rule.hours, at, place, rule.days))
    return `it is outside ${[rule.hours].flat().join(', ')}${rule.days ? ` on ${rule.days.join(', ')}` : ''}`
  if (at - Date.parse(subject.seenAt ?? subject.startedAt) > BEGAN_AGO_MAX_MS)
    return 'it began more than 10 minutes ago'
  if (subject.endedAt !== undefined && at - Date.parse(subject.endedAt) > ENDED_AGO_MAX_MS)
    return 'it ended more than 30 seconds ago'
  return undefined
}

/** A person's review counts for more than the stages, and a later stage for more than an earlier one. */
function outcomeOf({ falsePositive, validated, verdicts }: Subject): 'confirmed' | 'rejected' | 'unsure' {
  if (falsePositive) return 'rejected'
  if (validated) return 'confirmed'
  return verdicts?.at(-1)?.outcome ?? 'unsure'
}

export function namesLabel({ labels }: Pick<Rule, 'labels'>, label: string): boolean {
  return labels.some((each) => meansLabel(each, label))
}
