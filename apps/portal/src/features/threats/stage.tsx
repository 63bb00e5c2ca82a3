/** The picture of a detection in full size from its gateway, with its box; or its clip. */
import type { Incident, StoredDetection } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { useObjectUrl } from '#api/object-url.ts'
import { ClipVideo } from '@hedgerow/ui/clip-video.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { BoxOver } from './box-over.tsx'
import { DetectionPicture } from './picture.tsx'
import { isNotFinished, useClip, useSnapshot } from './queries.ts'
import { useGestures } from './use-gestures.ts'
import styles from './threats.module.css'

export type Stage = 'picture' | 'clip'

type StageProps = {
  incident: Incident
  shown: StoredDetection | undefined
  stage: Stage
  onStage: (stage: Stage) => void
  isBoxed: boolean
  onBoxed: (boxed: boolean) => void
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
}

export function StageView({ incident, shown, stage, onStage, isBoxed, onBoxed, onPrevious, onNext }: StageProps) {
  const { gestures, transform } = useGestures({ onPrevious, onNext })
  return (
    <>
      <div className={styles.stage} {...(stage === 'picture' && gestures)}>
        {stage === 'clip' && shown ? (
          <Clip gatewayId={incident.gatewayId} id={shown.id} />
        ) : (
          <LargePicture incident={incident} shown={shown} isBoxed={isBoxed} transform={transform} />
        )}
        <button
          type="button"
          className={styles.previous}
          aria-label="Previous incident"
          disabled={!onPrevious}
          onClick={onPrevious}
        />
        <button type="button" className={styles.next} aria-label="Next incident" disabled={!onNext} onClick={onNext} />
      </div>
      {shown && (
        <div className={styles.views}>
          <Button
            size="sm"
            variant={stage === 'clip' ? 'filled' : 'default'}
            aria-pressed={stage === 'clip'}
            onClick={() => onStage(stage === 'clip' ? 'picture' : 'clip')}
          >
            Play clip <kbd>c</kbd>
          </Button>
          {shown.box && stage === 'picture' && (
            <TickBox checked={isBoxed} onChange={onBoxed}>
              Show box <kbd>b</kbd>
            </TickBox>
          )}
        </div>
      )}
    </>
  )
}

/** Shows the thumbnail at once, then the snapshot, which shows the whole frame. */
function LargePicture({
  incident,
  shown,
  isBoxed,
  transform,
}: {
  incident: Incident
  shown: StoredDetection | undefined
  isBoxed: boolean
  transform: string | undefined
}) {
  const words = `${incident.label} at ${shown?.camera ?? incident.camera}`
  const snapshot = useSnapshot(incident.gatewayId, shown?.id)
  const address = useObjectUrl(snapshot.data)
  const [size, setSize] = useState<{ address: string; width: number; height: number }>()
  const isThere = address !== undefined && size?.address === address
  return (
    <span className={styles.large} data-snapshot={isThere} style={{ transform }}>
      <DetectionPicture
        gatewayId={incident.gatewayId}
        id={shown?.hasThumbnail ? shown.id : null}
        words={isThere ? '' : words}
      />
      {address !== undefined && (
        <img
          className={styles.snapshot}
          src={address}
          alt={words}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
            setSize({ address, width, height })
          }
        />
      )}
      {isThere && isBoxed && shown?.box && <BoxOver box={shown.box} size={size} words={incident.reportedLabel} />}
      {snapshot.error !== null && (
        <span className={styles.lacking}>
          {shown?.hasThumbnail === true && 'Only the thumbnail: '}
          {messageOf(snapshot.error)}
        </span>
      )}
    </span>
  )
}

function Clip({ gatewayId, id }: { gatewayId: string; id: string }) {
  const { data, error, isFetching, refetch } = useClip(gatewayId, id)
  const [isBroken, setBroken] = useState(false)
  if (isNotFinished(error)) return <Notice tone="plain">{messageOf(error)} Then it plays here.</Notice>
  if (error || isBroken)
    return (
      <Notice tone="warning">
        {error ? messageOf(error) : 'The clip ended early.'}{' '}
        <Button
          size="xs"
          variant="default"
          loading={isFetching}
          onClick={() => void refetch().then(() => setBroken(false))}
        >
          Try again
        </Button>
      </Notice>
    )
  return (
    <span className={styles.large}>
      {data === undefined ? (
        <span className={styles.picture} aria-busy="true">
          <span className={styles.nothing}>Fetching the clip from the gateway…</span>
        </span>
      ) : (
        <ClipVideo className={styles.clip} src={data.path} label="Clip" onBroken={() => setBroken(true)} />
      )}
    </span>
  )
}
