/**
 * One night's learning over all cameras: reads the looks and the reviews, and returns the changes. Runs in a thread.
 */
import {
  findRepeats,
  learn,
  overlapOf,
  verifierFeatures,
  VERIFIER_FEATURES,
  type Example,
  type Night,
  type Repeat,
} from '@hedgerow/vision'
import { isPersonLabel } from '../kernel/person-label.ts'
import { mayLearn, type LearningSettings } from './schema.ts'
import type { LearningStore, LookFacts, Version } from './store.ts'

/** A person's review of a detection; null withdraws it. */
export type StoredVerdict = { detection: string; verdict: 'right' | 'wrong' | null; label: string | null }

export type CameraNight = Pick<Night, 'lessons' | 'drift'> & {
  camera: string
  /** Ids of detections whose review people should look at again. */
  doubtful: string[]
  masks: Repeat[]
}

export type NightOptions = {
  store: LearningStore
  /** In the order in which they were made. */
  reviews: readonly StoredVerdict[]
  settings: Pick<LearningSettings, 'alsoLearn'>
  /** Milliseconds since 1970. */
  now: number
}

const DAY_MS = 86_400_000
/** The light of another season does not help tonight. */
const WINDOW_MS = 60 * DAY_MS
const REVIEWED_MAX = 4_000
const WEAK_MAX = 1_000
const LOOKS_MAX = 50_000
const REPEAT_OVERLAP = 0.8
const MASKS_MAX = 8

export function learnAll(options: NightOptions): CameraNight[] {
  const versions = options.store.versions().filter(isUsable)
  return options.store.cameras().map((camera) => learnCamera(camera, versions, options))
}

/** Whether a version can judge: it is active, and its verifier was trained with the features of this agent. */
export function isUsable({ state, verifier }: Version): boolean {
  return state === 'active' && verifier.weights.length === VERIFIER_FEATURES
}

function learnCamera(camera: string, versions: readonly Version[], options: NightOptions): CameraNight {
  const { store, reviews, settings, now } = options
  const looks = store.looks(camera, { since: now - WINDOW_MS, until: now + DAY_MS, limit: LOOKS_MAX })
  const here = new Set(looks.map(({ id }) => id))
  const verdictOf = new Map(
    reviews.flatMap(({ detection, ...review }, seq) => (here.has(detection) ? [[detection, { ...review, seq }]] : [])),
  )
  const verdicts = verdictsOf(looks, verdictOf)
  const masks = findRepeats(
    looks.flatMap(({ id, label, box }) => (box ? [{ label, box, isRight: verdicts.get(id) }] : [])),
  )
  const comesAgain = ({ label, box }: LookFacts) =>
    box !== undefined && masks.some((mask) => mask.label === label && overlapOf(mask.box, box) >= REPEAT_OVERLAP)
  const reviewed = looks.filter(({ id }) => verdicts.has(id)).slice(-REVIEWED_MAX)
  const weak = looks.filter((look) => !verdicts.has(look.id) && (look.isHeld || comesAgain(look))).slice(-WEAK_MAX)
  const chosen = [...reviewed, ...weak]
  const shownIds = store.questions()
  const rows = new Float32Array(chosen.length * VERIFIER_FEATURES)
  const list = chosen.map((look, n): Example => {
    const into = rows.subarray(n * VERIFIER_FEATURES, (n + 1) * VERIFIER_FEATURES)
    verifierFeatures({ ...look, crop: store.crop(look.id) }, into)
    return {
      label: look.label,
      at: look.at,
      isRight: verdicts.get(look.id),
      seq: verdictOf.get(look.id)?.seq ?? 0,
      isSettled: shownIds.has(look.id),
      isHeldBack: look.isHeld,
    }
  })
  const own = versions.filter((version) => version.camera === camera)
  const night = learn(
    { list, rows, features: VERIFIER_FEATURES },
    {
      current: new Map(own.map(({ label, verifier }) => [label, verifier])),
      mayLearn: (label) => mayLearn(settings, camera, label),
    },
  )
  return {
    camera,
    lessons: night.lessons,
    drift: night.drift,
    doubtful: night.doubtful.map((index) => chosen[index]!.id),
    masks: masks.slice(0, MASKS_MAX),
  }
}

/**
 * True for right, false for a false alarm. A wrong detection is no false alarm when people gave it another label that
 * is right here, or the label of a person.
 */
export function verdictsOf(
  looks: readonly LookFacts[],
  verdictOf: ReadonlyMap<string, Pick<StoredVerdict, 'verdict' | 'label'>>,
): Map<string, boolean> {
  const wanted = new Set(looks.filter(({ id }) => verdictOf.get(id)?.verdict === 'right').map(({ label }) => label))
  return new Map(
    looks.flatMap(({ id }) => {
      const { verdict = null, label = null } = verdictOf.get(id) ?? {}
      if (verdict === null) return []
      return [[id, verdict === 'right' || (label !== null && (wanted.has(label) || isPersonLabel(label)))]]
    }),
  )
}
