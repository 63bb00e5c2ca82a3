/** The texts of learning for people: on the console, in the heartbeat, in the hub. */
import type { GatewayLearning } from '@hedgerow/contract'
import { LEAST_REVIEWS, type Drift, type Lesson } from '@hedgerow/vision'
import { z } from 'zod'
import { keyOf, type LearningStore, type Report, type Version } from './store.ts'

type Camera = GatewayLearning['cameras'][number]
type Label = Camera['labels'][number]

const CAMERAS_MAX = 64
const LABELS_MAX = 16
const VERSIONS_MAX = 10
const MESSAGE_MAX = 500

const share = z.number().min(0).max(1)
const reportBody = z.object({
  right: z.number(),
  wrong: z.number(),
  message: z.string(),
  drift: z.object({ expected: share, observed: share, reviews: z.number() }).nullable(),
})

const percent = (value: number) => `${Math.round(value * 1_000) / 10} %`

export function lessonReport(
  camera: string,
  lesson: Lesson,
  { pausedUntil, drift }: { pausedUntil: number | undefined; drift: Drift | undefined },
): Report {
  const body: z.output<typeof reportBody> = {
    right: lesson.right,
    wrong: lesson.wrong,
    message: outcomeOf(lesson, pausedUntil),
    drift: drift ? { expected: drift.expected, observed: drift.observed, reviews: drift.reviews } : null,
  }
  return { camera, label: lesson.label, body: JSON.stringify(body) }
}

function outcomeOf({ outcome, right, wrong, test, candidate }: Lesson, pausedUntil: number | undefined): string {
  const { bound = 1, needed = 0 } = candidate?.threshold ?? {}
  switch (outcome) {
    case 'too-few-reviews':
      return (
        'Too few reviews: ' +
        `${[missing(right, 'right'), missing(wrong, 'wrong')].filter((part) => part !== '').join(' and ')} more ` +
        'are needed.'
      )
    case 'untested':
      return 'The newest fifth of the reviews has no right or no wrong detection to test on.'
    case 'loses-right':
      return `Not taken over: of ${test?.right ?? 0} newest right detections, ${test?.lost ?? 0} would be lost.`
    case 'not-fewer-false-alarms':
      return 'Not taken over: there would be no fewer false alarms.'
    case 'better':
      if (pausedUntil !== undefined)
        return (
          'Better, but a person undid a version: nothing takes over before ' +
          `${new Date(pausedUntil).toISOString().slice(0, 10)}.`
        )
      return [
        `Took over: of the newest reviews, ${test?.falseAlarms ?? 0} of ${test?.falseAlarmsNow ?? 0} false ` +
          'alarms remain, and nothing right is lost.',
        `At most ${percent(bound)} of right detections are ` +
          `missed${bound > 0.0101 ? `; ${needed} right reviews would show 1 %` : ''}.`,
      ].join(' ')
    default:
      return outcome satisfies never
  }
}

function missing(count: number, what: string): string {
  return count >= LEAST_REVIEWS ? '' : `${LEAST_REVIEWS - count} ${what}`
}

/** For the heartbeat. */
export function nightMessage(reports: readonly Report[], active: number): string {
  if (reports.length === 0) return 'Nothing was learned yet: mark detections as right or wrong.'
  const versions = active === 0 ? 'No version holds anything back.' : `Versions that hold back: ${active}.`
  const lines = reports.map(({ camera, label, body }) => `${camera}, ${label}: ${readBody(body)?.message ?? ''}`)
  return [versions, ...lines].join(' ').slice(0, MESSAGE_MAX)
}

export function describe({ number, camera, label }: Version): { version: number; camera: string; label: string } {
  return { version: number, camera, label }
}

/** The report of each camera. */
export function camerasOf(
  store: LearningStore,
  partsOf: (camera: string) => Pick<Camera, 'masks' | 'nights'>,
): Camera[] {
  const reports = new Map(store.reports().map((report) => [keyOf(report), readBody(report.body)]))
  const versions = Map.groupBy(store.versions(), keyOf)
  const pairs = [...store.reports(), ...store.versions()]
  return store
    .cameras()
    .slice(0, CAMERAS_MAX)
    .map((camera): Camera => {
      const labels = [...new Set(pairs.filter((pair) => pair.camera === camera).map(({ label }) => label))]
      return {
        camera,
        labels: labels
          .toSorted()
          .slice(0, LABELS_MAX)
          .map((label): Label => {
            const key = keyOf({ camera, label })
            const { right = 0, wrong = 0, message = '', drift = null } = reports.get(key) ?? {}
            const own = (versions.get(key) ?? []).toReversed().slice(0, VERSIONS_MAX)
            return { label, right, wrong, message, drift, versions: own.map((version) => toVersion(version, store)) }
          }),
        ...partsOf(camera),
      }
    })
}

function toVersion(version: Version, store: LearningStore): Label['versions'][number] {
  const { number, at, state, endedAt, endedBy, verifier } = version
  return {
    number,
    at: new Date(at).toISOString(),
    state,
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
    endedBy,
    missedAtMost: verifier.threshold.bound,
    heldBack: store.heldBy(number).length,
    missed: store.missedBy(number).length,
  }
}

/** Undefined for a report of another version of the agent. */
function readBody(body: string): z.output<typeof reportBody> | undefined {
  return reportBody.safeParse(JSON.parse(body)).data
}
