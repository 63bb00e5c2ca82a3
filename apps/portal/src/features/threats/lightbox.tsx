/** One incident, large: its pictures, what is known of it, and the keys that say what it is. */
import type { Alert, Incident, StoredDetection } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { messageOf } from '#api/client.ts'
import { useThumbnail } from '#api/thumbnail.ts'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Dialog, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import { acknowledgedInWords } from '#parts/acknowledged.ts'
import { LabelForm } from './label-form.tsx'
import { DetectionPicture } from './picture.tsx'
import { useAlertsOf, useIncident } from './queries.ts'
import { reviewWords, type Said } from './use-review.ts'
import styles from './threats.module.css'

type LightboxProps = {
  id: string
  labels: readonly string[]
  /** Undefined at the end of the list. */
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
  onSay: (said: Said) => void
  onClosed: () => void
  isLabelling: boolean
  onLabelling: (labelling: boolean) => void
  failure: string | undefined
}

export function Lightbox({ id, onClosed, ...rest }: LightboxProps) {
  const life = useDialogLife(onClosed)
  const { data, error } = useIncident(id)
  const title = data ? `${data.label} at ${data.gatewayName}` : 'Incident'
  return (
    <Dialog {...life} title={title} size="full">
      {data ? (
        <Shown key={data.id} incident={data} {...rest} />
      ) : error ? (
        <Notice tone="warning">{messageOf(error)}</Notice>
      ) : (
        <div className={styles.stage} />
      )}
    </Dialog>
  )
}

type ShownProps = Omit<LightboxProps, 'id' | 'onClosed'> & { incident: Incident & { list: StoredDetection[] } }

function Shown({ incident, labels, onPrevious, onNext, onSay, isLabelling, onLabelling, failure }: ShownProps) {
  const pictured = incident.list.filter(({ hasThumbnail }) => hasThumbnail)
  const [shownId, setShownId] = useState(incident.coverId)
  const shown = incident.list.find(({ id }) => id === shownId) ?? incident.list[0]
  return (
    <div className={styles.lightbox}>
      <div className={styles.pictures}>
        <div className={styles.stage}>
          <DetectionPicture
            gatewayId={incident.gatewayId}
            id={shownId}
            words={`${incident.label} at ${shown?.camera ?? incident.camera}`}
          />
          <button
            type="button"
            className={styles.previous}
            aria-label="Previous incident"
            disabled={!onPrevious}
            onClick={onPrevious}
          />
          <button
            type="button"
            className={styles.next}
            aria-label="Next incident"
            disabled={!onNext}
            onClick={onNext}
          />
        </div>
        {pictured.length > 1 && (
          <ul className={styles.strip} aria-label="Pictures of this incident">
            {pictured.map((detection) => (
              <li key={detection.id}>
                <button
                  type="button"
                  aria-pressed={detection.id === shownId}
                  aria-label={`${detection.camera}, ${new Date(detection.startedAt).toLocaleTimeString()}`}
                  onClick={() => setShownId(detection.id)}
                >
                  <DetectionPicture gatewayId={incident.gatewayId} id={detection.id} words="" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div className={styles.words}>
        {isLabelling ? (
          <LabelForm
            labels={labels}
            onCancel={() => onLabelling(false)}
            onSave={(label) => {
              onLabelling(false)
              onSay({ verdict: 'wrong', label })
            }}
          />
        ) : (
          <Answers incident={incident} onSay={onSay} onLabelling={() => onLabelling(true)} />
        )}
        {failure !== undefined && <Notice tone="warning">{failure}</Notice>}
        <Facts incident={incident} shown={shown} />
        <Tools incident={incident} shown={shown} />
      </div>
    </div>
  )
}

function Answers({
  incident,
  onSay,
  onLabelling,
}: {
  incident: Incident
  onSay: (said: Said) => void
  onLabelling: () => void
}) {
  const verdict = incident.review?.verdict
  return (
    <div className={styles.answers}>
      <Button
        variant={verdict === 'right' ? 'filled' : 'default'}
        aria-pressed={verdict === 'right'}
        onClick={() => onSay({ verdict: 'right' })}
      >
        Right <kbd>r</kbd>
      </Button>
      <Button
        variant={verdict === 'wrong' ? 'filled' : 'default'}
        {...(verdict === 'wrong' && { color: 'red' })}
        aria-pressed={verdict === 'wrong'}
        onClick={() => onSay({ verdict: 'wrong' })}
      >
        False alarm <kbd>w</kbd>
      </Button>
      <Button variant="default" onClick={onLabelling}>
        Something else… <kbd>l</kbd>
      </Button>
      {verdict !== undefined && (
        <Button variant="subtle" onClick={() => onSay({ verdict: null })}>
          Take back
        </Button>
      )}
    </div>
  )
}

function Facts({ incident, shown }: { incident: Incident; shown: StoredDetection | undefined }) {
  const { gatewayId, gatewayName, location, review, detections, lastAt, startedAt } = incident
  const said = reviewWords(incident)
  const alerts = useAlertsOf(incident.id).data ?? []
  return (
    <DetailList
      details={[
        [
          'Gateway',
          <Link key="gateway" to={`/gateways/${gatewayId}`}>
            {gatewayName}
          </Link>,
        ],
        ...(location === '' ? [] : [['Site', location] as const]),
        ['Camera', shown?.camera ?? incident.camera],
        ['Began', <ExactTime key="began" at={startedAt} />],
        ['Lasted', inWords(Date.parse(lastAt) - Date.parse(startedAt))],
        ['Detections', String(detections)],
        ['Score', `${Math.round((shown?.score ?? incident.score) * 100)} %`],
        ['Second look', secondLook(shown)],
        ['Deterrent', incident.isFired ? (deterrentsOf(incident) ?? 'fired') : 'none fired'],
        ...alerts.map((alert) => ['Alert', alertInWords(alert)] as const),
        [
          'Review',
          review === null ? (
            'nobody has said yet'
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

function alertInWords({ ruleName, acknowledged }: Alert): string {
  return `${ruleName}: ${acknowledged === null ? 'nobody has acknowledged it yet' : acknowledgedInWords(acknowledged)}`
}

function Tools({ incident, shown }: { incident: Incident; shown: StoredDetection | undefined }) {
  const id = shown?.hasThumbnail ? shown.id : undefined
  const { data } = useThumbnail(incident.gatewayId, id ?? '', id !== undefined)
  const name = `${incident.label}-${incident.startedAt.slice(0, 19).replaceAll(':', '-')}.jpg`
  return (
    <div className={styles.tools}>
      <CopyButton text={`${location.origin}/threats?incident=${incident.id}`}>Copy link</CopyButton>
      <Button
        variant="default"
        disabled={!data}
        onClick={() => data && saveFile(new Blob([Uint8Array.fromBase64(data.jpeg)], { type: 'image/jpeg' }), name)}
      >
        Download picture
      </Button>
    </div>
  )
}

function deterrentsOf({ list }: Incident & { list?: StoredDetection[] }): string | undefined {
  const names = [...new Set((list ?? []).flatMap(({ deterrent }) => deterrent ?? []))]
  return names.length > 0 ? names.join(', ') : undefined
}

function secondLook(shown: StoredDetection | undefined): string {
  if (shown?.validated === true) return 'confirmed'
  if (shown?.falsePositive === true) return 'rejected'
  return 'none'
}

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
