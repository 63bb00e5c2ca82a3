import type { Detection } from '@hedgerow/contract'
import { isPersonLabel } from '../../kernel/person-label.ts'
import type { DetectedObject } from '../source.ts'
import type { ReviewItem } from './messages.ts'
import type { SeenObject } from './tracked-objects.ts'

export type Severity = Detection['severity']

/** Frigate's levels that become detections; the older `significant_motion` has no object. */
export function severityOf(item: ReviewItem): Severity | undefined {
  return item.severity === 'alert' || item.severity === 'detection' ? item.severity : undefined
}

/**
 * A review item as a detection without its picture. It has the item's id, which never changes, and shows `best`, one of
 * `objects`: its label, score, zone and place.
 */
export function toDetection(
  item: ReviewItem,
  severity: Severity,
  objects: readonly DetectedObject[],
  best: DetectedObject | undefined,
  { box, endedAt }: { box: SeenObject['box']; endedAt: string | undefined },
): Detection {
  const zone = best?.zones.at(-1) ?? item.data.zones[0]
  const score = best?.score ?? 0
  return {
    id: item.id,
    camera: item.camera,
    label: best?.label ?? 'unknown',
    severity,
    score,
    startedAt: toMoment(item.start_time),
    ...(endedAt !== undefined && { endedAt }),
    source: 'frigate',
    ...(zone !== undefined && { zone }),
    ...(box && { box }),
    ...(objects.length > 1 && {
      verdicts: [{ stage: 'detector', by: 'Frigate', outcome: 'unsure', score, reason: sentenceOf(objects) }],
    }),
  }
}

/**
 * The object that people should see: a person before all others, then what a rule names, then what Frigate alerts
 * people of; the highest score among equals.
 */
export function bestOf<T extends DetectedObject & { severity?: string | null | undefined }>(
  objects: readonly T[],
  firesRule: (label: string) => boolean,
): T | undefined {
  const rank = ({ label, severity }: T) =>
    isPersonLabel(label) ? 3 : firesRule(label) ? 2 : severity === 'alert' ? 1 : 0
  return objects.toSorted((a, b) => rank(b) - rank(a) || b.score - a.score)[0]
}

/** The labels of all objects with their highest scores: `It saw: fox 0.81, 3 hens ...` is no use without the fox. */
function sentenceOf(objects: readonly DetectedObject[]): string {
  const labels = new Map<string, { count: number; score: number }>()
  for (const { label, score } of objects) {
    const translated = labels.get(label)
    labels.set(label, { count: (translated?.count ?? 0) + 1, score: Math.max(score, translated?.score ?? 0) })
  }
  const each = [...labels]
    .toSorted(([, a], [, b]) => b.score - a.score)
    .map(([label, { count, score }]) => `${count > 1 ? `${count} × ` : ''}${label} ${score.toFixed(2)}`)
  return `It saw: ${each.join(', ')}.`.slice(0, 500)
}

export function toMoment(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}
