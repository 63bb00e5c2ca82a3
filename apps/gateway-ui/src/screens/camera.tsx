/** One camera: its live picture with followed objects on it, and its zones and masks to draw. */
import { useParams } from 'react-router'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { cameraWord } from '@hedgerow/contract/protection'
import { DeviceError } from '../calls.ts'
import { Stage } from '../parts/stage.tsx'
import { useCamera, useStatus } from '../queries.ts'
import { useVisitor } from '../session.ts'
import { CameraEditor } from './camera-editor.tsx'
import { LabelSettings } from './label-settings.tsx'
import { Overlays } from './overlays.tsx'
import { Tuning } from './tuning.tsx'
import { isUnusual, UnusualView } from './unusual-view.tsx'
import styles from './camera.module.css'

export function CameraScreen() {
  const name = useParams()['name'] ?? ''
  const status = useStatus().data
  const { mayManage } = useVisitor()
  const query = useCamera(name)
  const { data, error, refetch } = query
  const state = status?.cameras.find((camera) => camera.name === name)
  const isElsewhere = error instanceof DeviceError && error.code === 'camera_not_found'
  return (
    <>
      <PageHead
        title={name}
        place={status?.name ?? 'Gateway'}
        lead={
          state && (state.state === 'online' ? `${state.fps.toFixed(1)} pictures a second` : cameraWord(state.state))
        }
      />
      {state?.problems.map((problem) => (
        <Notice key={problem} tone="warning">
          {problem}
        </Notice>
      ))}
      {isUnusual(state?.state) && <UnusualView name={name} mayAccept={mayManage} />}
      {state !== undefined && state.overlays.length > 0 && (
        <Overlays name={name} boxes={state.overlays} mayChange={mayManage} />
      )}
      {isElsewhere ? (
        <>
          <Notice tone="plain">Another program reads this camera, and has its zones and masks.</Notice>
          <div className={styles.alone}>
            <Stage camera={name} shapes={[]} />
          </div>
        </>
      ) : data === undefined ? (
        <PanelWaiting query={query} rows={8} label="Loading the camera" />
      ) : (
        <>
          <CameraEditor
            key={name}
            name={name}
            settings={data}
            mayChange={mayManage}
            onReload={async () => (await refetch()).data}
          />
          <Tuning name={name} settings={data} mayChange={mayManage} />
          <LabelSettings key={`${name} ${data.hash}`} name={name} settings={data} mayChange={mayManage} />
        </>
      )}
    </>
  )
}
