/** Detections: what this device saw, newest first. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { deviceCalls } from 'virtual:device-calls'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { LearningMarks } from '@hedgerow/ui/learning-marks.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { addressOf } from '../calls.ts'
import { useDetections, useStatus, type SeenDetection } from '../queries.ts'
import { DetectionDialog } from './detection-dialog.tsx'
import styles from './detections.module.css'

export function DetectionsScreen() {
  const status = useStatus().data
  const [search, setSearch] = useSearchParams()
  const camera = search.get('camera') ?? ''
  const learning = LEARNING.find(([value]) => value === search.get('learning'))?.[0] ?? ''
  const show = (key: 'camera' | 'learning', value: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(key)
        else next.set(key, value)
        return next
      },
      { replace: true },
    )
  const [open, setOpen] = useState<SeenDetection>()
  const query = useDetections({ camera, learning })
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage } = query
  // A link may name a camera that no longer exists.
  const names = [...new Set([...(status?.cameras ?? []).map(({ name }) => name), ...(camera === '' ? [] : [camera])])]
  const shown = data?.pages.flat()
  return (
    <>
      <PageHead
        title="Detections"
        place={status?.name ?? 'Gateway'}
        lead="What this gateway saw, newest first."
        actions={
          <>
            {names.length > 1 && (
              <Choice
                label="Camera"
                value={camera}
                options={[['', 'All cameras'], ...names.map((name) => [name, name] as const)]}
                onChange={(value) => show('camera', value)}
              />
            )}
            <Choice
              label="Learning"
              value={learning}
              options={LEARNING}
              onChange={(value) => show('learning', value)}
            />
          </>
        }
      />
      {shown === undefined ? (
        <PanelWaiting query={query} rows={6} label="Loading detections" />
      ) : shown.length === 0 ? (
        learning === '' ? (
          <PanelEmpty title="Nothing seen yet">Detections appear here when a source reports them.</PanelEmpty>
        ) : (
          <PanelEmpty title="Nothing matches" />
        )
      ) : (
        <>
          <ul className={styles.wall} aria-label="Detections">
            {shown.map((detection) => (
              <Card key={detection.id} detection={detection} onOpen={() => setOpen(detection)} />
            ))}
          </ul>
          {hasNextPage && (
            <Button
              className={styles.more}
              variant="default"
              loading={isFetchingNextPage}
              onClick={() => void fetchNextPage()}
            >
              Show older ones
            </Button>
          )}
        </>
      )}
      {open !== undefined && <DetectionDialog detection={open} onGone={() => setOpen(undefined)} />}
    </>
  )
}

const LEARNING = [
  ['', 'All'],
  ['hidden', 'Hidden by learning'],
  ['doubtful', 'Worth a second look'],
] as const

function Card({ detection, onOpen }: { detection: SeenDetection; onOpen: () => void }) {
  const { id, label, camera, score, startedAt, severity, firings = [] } = detection
  const [hasPicture, setHasPicture] = useState(true)
  return (
    <li>
      <button type="button" className={styles.card} onClick={onOpen}>
        <span className={styles.picture} data-severity={severity} aria-hidden>
          {hasPicture ? (
            <img
              src={addressOf(deviceCalls.readSnapshot, { id })}
              alt=""
              loading="lazy"
              onError={() => setHasPicture(false)}
            />
          ) : (
            'No picture'
          )}
        </span>
        <strong>
          {label}, {Math.round(score * 100)} %
        </strong>
        <LearningMarks {...detection} />
        <span className={styles.where}>
          {camera}, <RelativeTime at={startedAt} />
          {firings.some(({ outcome }) => outcome === 'fired') && <span className={styles.fired}>deterrent fired</span>}
        </span>
      </button>
    </li>
  )
}
