/** One incident, large: its pictures and clip, its facts, and the keys for reviews. */
import type { Incident, StoredDetection } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { pictureAt, useThumbnail } from '#api/thumbnail.ts'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { Dialog, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import { Facts, type WithList } from './facts.tsx'
import { Defence, Summary } from './summary.tsx'
import { LabelForm } from './label-form.tsx'
import { MarkedBefore, type Marked } from './marked.tsx'
import { DetectionPicture } from './picture.tsx'
import { fetchClipLink, useIncident, useSnapshot } from './queries.ts'
import { StageView, type Stage } from './stage.tsx'
import { useKeys } from './use-keys.ts'
import { useSteady } from './use-steady.ts'
import type { Verdict } from './use-review.ts'
import styles from './threats.module.css'

type LightboxProps = {
  id: string
  labels: readonly string[]
  /** Undefined at the end of the list. */
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
  onSay: (decision: Verdict) => void
  onClosed: () => void
  isLabelling: boolean
  onLabelling: (labelling: boolean) => void
  failure: string | undefined
  /** The incident before, for some seconds after its review. */
  marked: Marked | undefined
  onUndo: () => void
  onMarkGone: () => void
}

export function Lightbox({ id, onClosed, ...rest }: LightboxProps) {
  const life = useDialogLife(onClosed)
  const { data, error } = useIncident(id)
  const [isBoxed, setBoxed] = useState(true)
  const isSteady = useSteady(data?.id, rest.marked)
  const title = data ? `${data.label} at ${data.gatewayName}` : 'Incident'
  return (
    <Dialog {...life} title={title} size="full" hasEntry>
      {data ? (
        <Shown key={data.id} incident={data} isBoxed={isBoxed} onBoxed={setBoxed} mayTap={isSteady} {...rest} />
      ) : error ? (
        <Notice tone="warning">{messageOf(error)}</Notice>
      ) : (
        <div className={styles.stage} />
      )}
    </Dialog>
  )
}

type ShownProps = Omit<LightboxProps, 'id' | 'onClosed'> & {
  mayTap: () => boolean
  incident: WithList
  isBoxed: boolean
  onBoxed: (boxed: boolean) => void
}

function Shown({
  incident,
  labels,
  onPrevious,
  onNext,
  onSay,
  isLabelling,
  onLabelling,
  failure,
  mayTap,
  marked,
  onUndo,
  onMarkGone,
  isBoxed,
  onBoxed,
}: ShownProps) {
  const pictured = incident.list.filter(({ hasThumbnail }) => hasThumbnail)
  const [shownId, setShownId] = useState(incident.coverId)
  const [stage, setStage] = useState<Stage>('picture')
  const shown = incident.list.find(({ id }) => id === shownId) ?? incident.list[0]
  useKeys({ c: () => setStage(stage === 'clip' ? 'picture' : 'clip'), b: () => onBoxed(!isBoxed) }, () => true)
  return (
    <div className={styles.lightbox}>
      <div className={styles.pictures}>
        <StageView
          key={shown?.id}
          incident={incident}
          shown={shown}
          stage={stage}
          onStage={setStage}
          isBoxed={isBoxed}
          onBoxed={onBoxed}
          onPrevious={onPrevious}
          onNext={onNext}
        />
        {marked !== undefined && marked.id !== incident.id && (
          <MarkedBefore key={marked.id} said={marked.said} onUndo={onUndo} onGone={onMarkGone} />
        )}
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
        <Summary incident={incident} shown={shown} />
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
          <Answers incident={incident} mayTap={mayTap} onSay={onSay} onLabelling={() => onLabelling(true)} />
        )}
        {failure !== undefined && <Notice tone="warning">{failure}</Notice>}
        <Defence incident={incident} />
        <Facts incident={incident} shown={shown} />
        <Tools incident={incident} shown={shown} />
      </div>
    </div>
  )
}

function Answers({
  incident,
  mayTap,
  onSay,
  onLabelling,
}: {
  incident: Incident
  mayTap: () => boolean
  onSay: (decision: Verdict) => void
  onLabelling: () => void
}) {
  const verdict = incident.review?.verdict
  const onTap = (act: () => void) => () => {
    if (mayTap()) act()
  }
  return (
    <div className={styles.answers}>
      <Button
        variant={verdict === 'right' ? 'filled' : 'default'}
        aria-pressed={verdict === 'right'}
        onClick={onTap(() => onSay({ verdict: 'right' }))}
      >
        Correct <kbd>r</kbd>
      </Button>
      <Button
        variant={verdict === 'wrong' ? 'filled' : 'default'}
        {...(verdict === 'wrong' && { color: 'red' })}
        aria-pressed={verdict === 'wrong'}
        onClick={onTap(() => onSay({ verdict: 'wrong' }))}
      >
        Wrong <kbd>w</kbd>
      </Button>
      <Button variant="default" onClick={onTap(onLabelling)}>
        Other… <kbd>l</kbd>
      </Button>
      {verdict !== undefined && (
        <Button variant="subtle" onClick={onTap(() => onSay({ verdict: null }))}>
          Undo
        </Button>
      )}
    </div>
  )
}

function Tools({ incident, shown }: { incident: Incident; shown: StoredDetection | undefined }) {
  const { gatewayId } = incident
  const thumbnail = useThumbnail(gatewayId, shown?.id ?? '', shown?.hasThumbnail === true).address
  const snapshot = useSnapshot(gatewayId, shown?.id).data
  const [failure, setFailure] = useState<string>()
  const hasPicture = snapshot !== undefined || thumbnail !== undefined
  const savePicture = () => {
    if (snapshot !== undefined) saveFile(snapshot, `${name}.jpg`)
    else if (thumbnail !== undefined) saveFile(pictureAt(thumbnail), `${name}.jpg`)
  }
  const name = `${incident.label}-${(shown ?? incident).startedAt.slice(0, 19).replaceAll(':', '-')}`
  const downloadClip = async (id: string) => {
    setFailure(undefined)
    try {
      const link = document.createElement('a')
      link.href = (await fetchClipLink(gatewayId, id)).path
      link.download = `${name}.mp4`
      link.click()
    } catch (error) {
      setFailure(messageOf(error))
    }
  }
  return (
    <>
      <div className={styles.tools}>
        <CopyButton text={`${location.origin}/threats?incident=${incident.id}`}>Copy link</CopyButton>
        <Button variant="default" disabled={!hasPicture} onClick={savePicture}>
          Download picture
        </Button>
        {shown && (
          <Button variant="default" onClick={() => void downloadClip(shown.id)}>
            Download clip
          </Button>
        )}
      </div>
      {failure !== undefined && <Notice tone="warning">{failure}</Notice>}
    </>
  )
}
