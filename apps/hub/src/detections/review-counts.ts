import { REVIEW_DAYS, type ReviewCounts } from '@hedgerow/contract'
import { byNaturalOrder } from '@hedgerow/contract/natural-order'
import type { Db } from '../database/tables.ts'

const LATEST = 10

/** Counts the reviews of a gateway's detections in the last 30 days of the hub's calendar. */
export async function countReviews(db: Db, gatewayId: string, now: number): Promise<ReviewCounts> {
  const days = Array.from({ length: REVIEW_DAYS }, (_, index) => dayOf(now, index + 1 - REVIEW_DAYS))
  const rows = await db
    .selectFrom('reviews')
    .select(['camera', 'detected_at', 'verdict'])
    .where('gateway_id', '=', gatewayId)
    .where('detected_at', '>=', startOf(now, 1 - REVIEW_DAYS))
    .where('verdict', 'is not', null)
    .execute()
  const cameras = new Map<string, ReviewCounts['cameras'][number]>()
  for (const { camera, detected_at: at, verdict } of rows) {
    const counted = cameras.get(camera) ?? { camera, right: days.map(() => 0), wrong: days.map(() => 0) }
    cameras.set(camera, counted)
    const day = days.indexOf(dayOf(at, 0))
    if (verdict !== null && day >= 0) counted[verdict][day]! += 1
  }
  const reviewed = await db
    .selectFrom('incidents')
    .select(['id', 'verdict', 'reported_label', 'label', 'camera', 'reviewed_by', 'reviewed_at'])
    .where('gateway_id', '=', gatewayId)
    .where('reviewed_at', 'is not', null)
    .orderBy('reviewed_at', 'desc')
    .limit(LATEST)
    .execute()
  return {
    days,
    cameras: [...cameras.values()].toSorted((a, b) => byNaturalOrder(a.camera, b.camera)),
    latest: reviewed.flatMap(({ id, verdict, reported_label: reportedLabel, label, camera, ...review }) =>
      verdict === null
        ? []
        : {
            incidentId: id,
            verdict,
            reportedLabel,
            label,
            camera,
            by: review.reviewed_by ?? '',
            at: new Date(review.reviewed_at ?? 0).toISOString(),
          },
    ),
  }
}

/** The hub's midnight, this many days later: a day may have 23 or 25 hours. */
function startOf(at: number, daysLater: number): number {
  const date = new Date(at)
  date.setHours(0, 0, 0, 0)
  date.setDate(date.getDate() + daysLater)
  return date.getTime()
}

function dayOf(at: number, daysLater: number): string {
  const date = new Date(startOf(at, daysLater))
  const part = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())}`
}
