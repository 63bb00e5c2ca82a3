import type { Detection } from '@hedgerow/contract'
import { isPersonLabel } from '../../kernel/person-label.ts'
import type { ReviewItem } from './messages.ts'
import type { SeenObject } from './tracked-objects.ts'

export type Severity = Detection['severity']

/** Frigate's levels that become detections; the older `significant_motion` has no object. */
export function severityOf(item: ReviewItem): Severity | undefined {
  return item.severity === 'alert' || item.severity === 'detection' ? item.severity : undefined
}

/**
 * A review item as a detection without its picture, and the id of the tracked object that shows it best. The detection
 * has the item's id, which never changes. Its label is `person` if a person is among the objects, so that no rule about
 * animals fires at a person; else it is the label with the highest score.
 */
export function toDetection(
  item: ReviewItem,
  severity: Severity,
  known: (objectId: string) => SeenObject | undefined,
): { detection: Detection; objectId: string | undefined } {
  const objects = item.data.detections.flatMap((id) => {
    const seen = known(id)
    return seen ? [{ id, ...seen }] : []
  })
  const best = objects.toSorted((a, b) => rank(b) - rank(a))[0]
  const named = item.data.objects.map(withoutMark)
  const label = named.find(isPersonLabel) ?? best?.label ?? named[0] ?? item.data.audio[0] ?? 'unknown'
  const shown = best?.label === label ? best : undefined
  const zone = item.data.zones.at(-1)
  const detection: Detection = {
    id: item.id,
    camera: item.camera,
    label,
    severity,
    score: shown?.score ?? 0,
    startedAt: toMoment(item.start_time),
    ...(item.end_time !== null && { endedAt: toMoment(Math.max(item.start_time, item.end_time)) }),
    source: 'frigate',
    ...(zone !== undefined && { zone }),
    ...(shown?.box && { box: shown.box }),
  }
  return { detection, objectId: shown?.id ?? best?.id ?? item.data.detections[0] }
}

function rank({ label, score }: SeenObject): number {
  return score + (isPersonLabel(label) ? 1 : 0)
}

/** Frigate appends this to the label of a recognised face or plate. */
function withoutMark(label: string): string {
  return label.replace(/-verified$/, '')
}

function toMoment(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}
