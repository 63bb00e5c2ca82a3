/** False alarms and lost detections for each night, counted from reviews and never estimated. */
import { isAnimalLabel, LEARNING_NIGHTS, type GatewayLearning } from '@hedgerow/contract'
import type { Place } from '../kernel/hours.ts'
import { verdictsOf, type StoredVerdict } from './night.ts'
import { isPersonLabel } from '../kernel/person-label.ts'
import { isSameName } from '../kernel/same-name.ts'
import type { LearningStore, LookFacts } from './store.ts'

type Night = GatewayLearning['cameras'][number]['nights'][number]

const DAY_MS = 86_400_000
const LOOKS_MAX = 50_000

export type NightsOptions = {
  store: Pick<LearningStore, 'looks'>
  /** In the order in which they were made. */
  reviews: readonly StoredVerdict[]
  now: number
  place: Place
}

/** The nights of one camera; the last one is the current night. */
export function countNights(camera: string, { store, reviews, now, place }: NightsOptions): Night[] {
  const zone = place.timeZone ?? Temporal.Now.timeZoneId()
  const last = nightOf(now, zone)
  const nights = new Map(
    Array.from({ length: LEARNING_NIGHTS }, (_, index) => {
      const day = last.subtract({ days: LEARNING_NIGHTS - 1 - index }).toString()
      return [day, { day, right: 0, wrong: 0, lost: 0, heldBack: 0 }]
    }),
  )
  const since = now - (LEARNING_NIGHTS + 1) * DAY_MS
  const looks = store.looks(camera, { since, until: now + DAY_MS, limit: LOOKS_MAX })
  const given = new Map(reviews.map(({ detection, ...review }) => [detection, review]))
  const verdicts = verdictsOf(looks, given)
  for (const look of looks) {
    const night = nights.get(nightOf(look.at, zone).toString())
    const part = partOf(look, verdicts.get(look.id), given.get(look.id)?.label)
    if (night && part) night[part] += 1
  }
  return [...nights.values()]
}

function partOf(
  { isHeld, isMissed, label }: LookFacts,
  isRight: boolean | undefined,
  correction: string | null | undefined,
): Exclude<keyof Night, 'day'> | undefined {
  if (isMissed) return 'lost'
  if (isHeld) return 'heldBack'
  if (isRight === undefined || isRight) return isRight && 'right'
  // Somebody was there, of another kind: a wrong label, and no false alarm.
  const isOfKind = correction && (isAnimalLabel(correction) || isPersonLabel(correction))
  return isOfKind && !isSameName(correction, label) ? undefined : 'wrong'
}

/** The day at whose noon the night of `at` began. */
function nightOf(at: number, timeZone: string): Temporal.PlainDate {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
  return local.hour < 12 ? local.toPlainDate().subtract({ days: 1 }) : local.toPlainDate()
}
