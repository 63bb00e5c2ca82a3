/** Learning: what this gateway learned from reviews, camera by camera, with undo and proposed masks. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { Learned, type LearnedMask } from '@hedgerow/ui/learned.tsx'
import { LearnedNames, type LearnedNamesShown } from '@hedgerow/ui/learned-names.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { messageOf } from '../calls.ts'
import { SettingsPanel } from '../parts/settings-panel.tsx'
import { UndoBar } from '../parts/undo-bar.tsx'
import { useDismissMask, useLearning, useLearnNow, useStatus, useUndoLearning, useUndoNames } from '../queries.ts'
import { useVisitor } from '../session.ts'
import { AcceptMaskDialog } from './accept-mask-dialog.tsx'
import styles from './learning.module.css'

const SETTINGS = {
  title: 'How it learns',
  fields: [
    {
      path: ['learning', 'enabled'],
      label: 'Learning from reviews',
      kind: [
        ['', 'On (usual)'],
        ['false', 'Off: nothing is learned and nothing is held back'],
      ],
    },
    {
      path: ['learning', 'hours'],
      label: 'When it learns, once a day: from and to',
      kind: 'text',
      usual: '02:00-05:00',
    },
    { path: ['learning', 'megabytes'], label: 'Space for its small pictures, MB', kind: 'number', usual: '100' },
  ],
} as const

export function LearningScreen() {
  const name = useStatus().data?.name ?? 'Gateway'
  const { mayManage } = useVisitor()
  const query = useLearning()
  const { data } = query
  const undo = useUndoLearning()
  return (
    <>
      <PageHead
        title="Learning"
        place={name}
        lead="What this gateway learned from reviews. It hides detections that look like known false alarms."
      />
      <UndoBar />
      {undo.error !== null && <Notice tone="danger">{messageOf(undo.error)}</Notice>}
      {data === undefined ? (
        <PanelWaiting query={query} rows={6} label="Loading what was learned" />
      ) : (
        <>
          {(data.state !== 'waiting' || data.lastRunAt !== null) && (
            <Notice tone={data.state === 'failed' ? 'danger' : 'plain'}>
              {data.state !== 'waiting' && `${data.message} `}
              {data.lastRunAt !== null && (
                <>
                  Last learned: <ExactTime at={data.lastRunAt} />.
                </>
              )}
            </Notice>
          )}
          {data.cameras.length === 0 && (
            <PanelEmpty title="Nothing learned yet">
              It keeps a small picture of each detection. Mark detections as correct or wrong in the hub’s Threats;
              after 20 of each for a label it can begin.
            </PanelEmpty>
          )}
          {data.names && <Names names={data.names} isRunning={data.state === 'running'} />}
          {data.cameras.map((camera) => (
            <Panel key={camera.camera} title={camera.camera}>
              <Learned
                camera={camera}
                isUndoing={undo.isPending}
                onUndo={mayManage ? (change) => undo.mutate(change, { onSuccess: tellUndone }) : undefined}
                heldBack={
                  <Link to={`/detections?${new URLSearchParams({ camera: camera.camera, learning: 'hidden' })}`}>
                    What is hidden on {camera.camera}
                  </Link>
                }
                renderMask={(mask) => <Proposal camera={camera.camera} mask={mask} />}
              />
            </Panel>
          ))}
        </>
      )}
      <SettingsPanel {...SETTINGS} />
    </>
  )
}

function Names({ names, isRunning }: { names: LearnedNamesShown; isRunning: boolean }) {
  const { mayManage } = useVisitor()
  const train = useLearnNow()
  const undo = useUndoNames()
  const error = train.error ?? undo.error
  return (
    <Panel title="Names">
      <LearnedNames
        names={names}
        isBusy={undo.isPending}
        isTraining={train.isPending || isRunning}
        onTrain={mayManage ? () => train.mutate() : undefined}
        onUndo={mayManage ? (number) => undo.mutate(number, { onSuccess: tellUndone }) : undefined}
      >
        {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
      </LearnedNames>
    </Panel>
  )
}

function tellUndone({ undone }: { undone: boolean }): void {
  void toast(undone ? 'Done. It is active.' : 'Nothing was left to undo.')
}

function Proposal({ camera, mask }: { camera: string; mask: LearnedMask }) {
  const { mayManage } = useVisitor()
  const dismiss = useDismissMask()
  const [isAccepting, setAccepting] = useState(false)
  if (!mayManage) return <pre className={styles.lines}>{mask.lines}</pre>
  return (
    <>
      <div className={styles.buttons}>
        <Button size="compact-sm" onClick={() => setAccepting(true)}>
          Look and accept
        </Button>
        <Button
          variant="default"
          size="compact-sm"
          loading={dismiss.isPending}
          onClick={() => dismiss.mutate({ camera, id: mask.id })}
        >
          Dismiss
        </Button>
      </div>
      {dismiss.error !== null && <Notice tone="danger">{messageOf(dismiss.error)}</Notice>}
      {isAccepting && <AcceptMaskDialog camera={camera} mask={mask} onGone={() => setAccepting(false)} />}
    </>
  )
}
