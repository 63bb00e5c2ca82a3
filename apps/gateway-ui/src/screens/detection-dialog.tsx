import { Button } from '@mantine/core'
import { useState } from 'react'
import { deviceCalls } from 'virtual:device-calls'
import { ClipVideo } from '@hedgerow/ui/clip-video.tsx'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Dialog, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { LearningMarks } from '@hedgerow/ui/learning-marks.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import { addressOf, DeviceError, messageOf } from '../calls.ts'
import { useClip, type SeenDetection } from '../queries.ts'
import styles from './detections.module.css'

/** One detection: its picture or clip, and all verdicts and firings about it. */
export function DetectionDialog({ detection, onGone }: { detection: SeenDetection; onGone: () => void }) {
  const { id, label, camera, zone, score, source, startedAt, endedAt, verdicts = [], firings = [] } = detection
  const [view, setView] = useState<'picture' | 'no picture' | 'clip'>('picture')
  const details = [
    ['Score', `${Math.round(score * 100)} %`],
    ['Camera', zone === undefined ? camera : `${camera}, zone ${zone}`],
    ['Began', <ExactTime key="began" at={startedAt} />],
    ['Ended', endedAt === undefined ? 'not known' : <ExactTime key="ended" at={endedAt} />],
    ['Source', source ?? 'unknown'],
  ] as const
  return (
    <Dialog title={`${label} on ${camera}`} size="xl" {...useDialogLife(onGone)}>
      <div className={styles.opened}>
        {view === 'clip' ? (
          <Clip id={id} label={`Clip of ${label} on ${camera}`} />
        ) : view === 'no picture' ? (
          <Notice tone="plain">The device has no picture of this.</Notice>
        ) : (
          <img
            className={styles.large}
            src={addressOf(deviceCalls.readSnapshot, { id })}
            alt={`${label} on ${camera}`}
            onError={() => setView('no picture')}
          />
        )}
        {view !== 'clip' && (
          <Button variant="default" onClick={() => setView('clip')}>
            Play clip
          </Button>
        )}
        <LearningMarks {...detection} />
        {detection.suppressed === true && (
          <p>
            The hub has it, and it fired nothing. If it is correct, mark it so in the hub’s Threats: it is shown again.
          </p>
        )}
        <DetailList details={details} />
        {verdicts.length > 0 && (
          <section aria-label="Verdicts">
            <h3>Verdicts</h3>
            <ul className={styles.lines}>
              {verdicts.map(({ stage, by, outcome, score: sure, reason }) => (
                <li key={`${stage} ${by}`}>
                  {stage} ({by}): {outcome}
                  {sure !== undefined && `, ${Math.round(sure * 100)} %`}
                  {reason !== undefined && `: ${reason}`}
                </li>
              ))}
            </ul>
          </section>
        )}
        {firings.length > 0 && (
          <section aria-label="Firings">
            <h3>Firings</h3>
            <ul className={styles.lines}>
              {firings.map(({ id: firing, deterrent, seconds, outcome, reason }) => (
                <li key={firing}>
                  {deterrent}: {outcome}
                  {outcome === 'fired' && ` for ${seconds} s`}
                  {reason !== undefined && `: ${reason}`}
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </Dialog>
  )
}

function Clip({ id, label }: { id: string; label: string }) {
  const clip = useClip(id)
  const [isBroken, setBroken] = useState(false)
  if (clip.error instanceof DeviceError && clip.error.code !== 'no_picture')
    return <Notice tone="plain">{messageOf(clip.error)}</Notice>
  if (clip.error !== null || isBroken) return <Notice tone="plain">There is no clip of this detection.</Notice>
  if (clip.data === undefined) return <Notice tone="plain">Looking for the clip…</Notice>
  return (
    <ClipVideo
      className={styles.large}
      src={addressOf(deviceCalls.readClip, { id })}
      label={label}
      onBroken={() => setBroken(true)}
    />
  )
}
