/** The facts of an incident and of the shown detection, in words. */
import type { Alert, Deed, readIncident, ResponseOf, StoredDetection, Verdict } from '@hedgerow/contract'
import { deedLine } from '@hedgerow/contract/protection'
import { Link } from 'react-router'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { LearningMarks } from '@hedgerow/ui/learning-marks.tsx'
import { ExactTime, SiteTime } from '@hedgerow/ui/relative-time.tsx'
import { useKnownGateway } from '#api/gateways.ts'
import { placeOf } from '#api/places.ts'
import { acknowledgedInWords } from '#parts/acknowledged.ts'
import { useAlertsOf } from './queries.ts'
import { reviewWords } from './use-review.ts'
import styles from './threats.module.css'

export type WithList = ResponseOf<typeof readIncident>

export function Facts({ incident, shown }: { incident: WithList; shown: StoredDetection | undefined }) {
  const { gatewayId, gatewayName, review, detections, lastAt, startedAt, label, reportedLabel } = incident
  const timeZone = useKnownGateway(gatewayId)?.timeZone ?? null
  const said = reviewWords(incident)
  const alerts = useAlertsOf(incident.id).data ?? []
  const verdicts = shown?.verdicts ?? []
  return (
    <DetailList
      details={[
        [
          'Gateway',
          <Link key="gateway" to={`/gateways/${gatewayId}`}>
            {gatewayName}
          </Link>,
        ],
        ...(placeOf(incident) === '' ? [] : [['Site', placeOf(incident)] as const]),
        ['Camera', shown?.camera ?? incident.camera],
        ...(shown?.zone === undefined ? [] : [['Zone', shown.zone] as const]),
        ['Began', <SiteTime key="began" at={startedAt} timeZone={timeZone} />],
        ['Lasted', inWords(Date.parse(lastAt) - Date.parse(startedAt))],
        ['Detections', String(detections)],
        ...(label === reportedLabel ? [] : [['Reported as', reportedLabel] as const]),
        ['Score', percent(shown?.score ?? incident.score)],
        verdicts.length > 0
          ? ['Verdicts', <Lines key="verdicts" lines={verdicts.map(verdictInWords)} />]
          : ['Second look', secondLook(shown)],
        [
          'Deterrent',
          incident.deeds.length > 0 ? (
            <Lines key="firings" lines={incident.deeds.map(deedInWords)} />
          ) : incident.isFired ? (
            (deterrentsOf(incident) ?? 'fired')
          ) : (
            'none fired'
          ),
        ],
        ...(incident.isSuppressed || incident.isDoubtful
          ? [
              [
                'Learning',
                <LearningMarks key="learning" suppressed={incident.isSuppressed} doubtful={incident.isDoubtful} />,
              ] as const,
            ]
          : []),
        ...(incident.isSnoozed ? [['Snoozed', 'no alert, and nothing fired'] as const] : []),
        ...alerts.map((alert) => ['Alert', alertInWords(alert)] as const),
        [
          'Review',
          review === null ? (
            'not reviewed yet'
          ) : (
            <>
              {said} · {review.by}, <ExactTime at={review.at} />
            </>
          ),
        ],
      ]}
    />
  )
}

/** The detections of an incident may name the same firing. */
const distinct = (lines: readonly string[]): string[] => [...new Set(lines)]

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <ul className={styles.lines}>
      {distinct(lines).map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}

const STAGES: Readonly<Record<string, string>> = {
  motion: 'Motion',
  detector: 'Detector',
  'second-look': 'Second look',
  learned: 'What was learned here',
}
const OUTCOMES = { confirmed: 'confirmed it', rejected: 'rejected it', unsure: 'is not sure' } as const

/** `Second look (llava) rejected it, 12 %: a branch in the wind` */
export function verdictInWords({ stage, by, outcome, score, reason }: Verdict): string {
  const who = STAGES[stage] ?? stage
  const sure = score === undefined ? '' : `, ${percent(score)}`
  // A detector confirms nothing: that is for the stages after it.
  if (stage === 'named') return `${reason} (${by}${sure})`
  const said = stage === 'detector' && outcome === 'unsure' ? 'saw it' : OUTCOMES[outcome]
  return `${who} (${by}) ${said}${sure}${reason === undefined ? '' : `: ${reason}`}`
}

const deedInWords = (deed: Deed): string => `${new Date(deed.at).toLocaleTimeString()}: ${deedLine(deed)}`

function alertInWords({ ruleName, acknowledged }: Alert): string {
  return `${ruleName}: ${acknowledged === null ? 'nobody has acknowledged it yet' : acknowledgedInWords(acknowledged)}`
}

function deterrentsOf({ list }: WithList): string | undefined {
  const names = [...new Set(list.flatMap(({ deterrent }) => deterrent ?? []))]
  return names.length > 0 ? names.join(', ') : undefined
}

function secondLook(shown: StoredDetection | undefined): string {
  if (shown?.validated === true) return 'confirmed'
  if (shown?.falsePositive === true) return 'rejected'
  return 'none'
}

function percent(score: number): string {
  return `${Math.round(score * 100)} %`
}

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
