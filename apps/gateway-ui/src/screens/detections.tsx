/** Detections: what this device saw, newest first. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { deviceCalls } from 'virtual:device-calls'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelError, PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { addressOf, messageOf } from '../calls.ts'
import { useDetections, useStatus, type SeenDetection } from '../queries.ts'
import { DetectionDialog } from './detection-dialog.tsx'
import styles from './detections.module.css'

export function DetectionsScreen() {
  const status = useStatus().data
  const [camera, setCamera] = useState('')
  const [open, setOpen] = useState<SeenDetection>()
  const { data, error, isFetching, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useDetections(camera)
  const cameras = status?.cameras ?? []
  const shown = data?.pages.flat()
  return (
    <>
      <PageHead
        title="Detections"
        place={status?.name ?? 'Gateway'}
        lead="What this gateway saw, newest first."
        actions={
          cameras.length > 1 && (
            <Choice
              label="Camera"
              value={camera}
              options={[['', 'All cameras'], ...cameras.map(({ name }) => [name, name] as const)]}
              onChange={setCamera}
            />
          )
        }
      />
      {shown === undefined ? (
        error === null ? (
          <PanelSkeleton rows={6} label="Loading detections" />
        ) : (
          <PanelError message={messageOf(error)} retrying={isFetching} onRetry={() => void refetch()} />
        )
      ) : shown.length === 0 ? (
        <PanelEmpty title="Nothing seen yet">Detections appear here when a source reports them.</PanelEmpty>
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

function Card({ detection, onOpen }: { detection: SeenDetection; onOpen: () => void }) {
  const { id, label, camera, score, startedAt, severity } = detection
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
        <span className={styles.where}>
          {camera}, <RelativeTime at={startedAt} />
        </span>
      </button>
    </li>
  )
}
