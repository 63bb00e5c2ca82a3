/** Now: the cameras, current problems, whether the device is armed, its connection, its version and updates. */
import { Button } from '@mantine/core'
import { lazy, Suspense, useCallback, useState } from 'react'
import { Link } from 'react-router'
import { deviceCalls } from 'virtual:device-calls'
import { updateLines } from '@hedgerow/contract'
import { NO_MODEL } from '@hedgerow/contract/constants'
import { cameraWord } from '@hedgerow/contract/protection'
import type { DeviceStatus } from '@hedgerow/contract/device-interface'
import { ConditionList } from '@hedgerow/ui/condition-list.tsx'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { LivePicture } from '@hedgerow/ui/live-picture.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { askPicture, messageOf } from '../calls.ts'
import { ProtectionChip } from '../parts/protection-chip.tsx'
import { useStatus } from '../queries.ts'
import { useVisitor } from '../session.ts'
import styles from './now.module.css'

const SnoozeDialog = lazy(() => import('../snooze-dialog.tsx'))

export function NowScreen() {
  const query = useStatus()
  const { data, error } = query
  const { mayManage } = useVisitor()
  const [isSnoozing, setSnoozing] = useState(false)
  if (data === undefined)
    return (
      <>
        <PageHead title="Now" place="Gateway" />
        <PanelWaiting query={query} rows={6} label="Loading" />
      </>
    )
  return (
    <>
      <PageHead
        title="Now"
        place={data.name}
        lead={
          <>
            {data.location} <ProtectionChip heartbeat={data} />
          </>
        }
        actions={
          <>
            <Button variant="default" onClick={() => setSnoozing(true)}>
              Snooze…
            </Button>
            {mayManage && (
              <Button variant="default" component={Link} to="/add-camera">
                Add a camera
              </Button>
            )}
          </>
        }
      />
      <Suspense>{isSnoozing && <SnoozeDialog onGone={() => setSnoozing(false)} />}</Suspense>
      {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
      {data.problems.length > 0 && (
        <Notice tone="warning">
          <ul className={styles.problems}>
            {data.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </Notice>
      )}
      <Cameras cameras={data.cameras} />
      <div className={styles.columns}>
        <Panel title="Connection to the hub">
          <ConditionList
            conditions={data.conditions.map(({ step, detail, ...rest }) => ({ ...rest, key: step, message: detail }))}
          />
        </Panel>
        <Panel title="Version and updates">
          <div className={styles.about}>
            <Updates version={data.version} updates={data.updates} />
          </div>
        </Panel>
        <Panel title="This device">
          <div className={styles.about}>
            <About status={data} />
          </div>
        </Panel>
      </div>
    </>
  )
}

function Cameras({ cameras }: Pick<DeviceStatus, 'cameras'>) {
  if (cameras.length === 0)
    return (
      <Panel title="Cameras">
        <PanelEmpty title="No cameras yet">
          Add one here, name them in the configuration, or let Frigate or a program report them.
        </PanelEmpty>
      </Panel>
    )
  return (
    <ul className={styles.wall} aria-label="Cameras">
      {cameras.map((camera) => (
        <Camera key={camera.name} {...camera} />
      ))}
    </ul>
  )
}

const PICTURE_HEIGHT = 480

function Camera({ name, state, fps }: DeviceStatus['cameras'][number]) {
  const load = useCallback(
    (signal: AbortSignal) =>
      askPicture(deviceCalls.readLatest, { params: { name }, query: { height: PICTURE_HEIGHT }, signal }),
    [name],
  )
  return (
    <li className={styles.tile}>
      <LivePicture load={load} alt={name} off={state === 'disabled' ? 'Switched off' : undefined} />
      <Link to={`/cameras/${encodeURIComponent(name)}`}>{name}</Link>
      <span className={styles.state}>
        {state === 'online' ? `${fps.toFixed(1)} pictures a second` : cameraWord(state)}
      </span>
    </li>
  )
}

function Updates({ version, updates }: Pick<DeviceStatus, 'version' | 'updates'>) {
  const lines = updateLines(updates, (at) => new Date(at).toLocaleString())
  return <DetailList details={[['Version', version], ...lines]} />
}

function About({ status }: { status: DeviceStatus }) {
  const { fingerprint, hubFingerprint, vpnAddress, hubUrl, gatewayId, detectionsWaiting, detectors, model } = status
  const details = [
    ['Detectors', detectors.map(({ name }) => name).join('; ') || eyeInWords(model)],
    ['Hub', hubUrl === null ? 'not found yet' : <a href={hubUrl}>{hubUrl}</a>],
    ['Gateway id', gatewayId === null ? 'none yet' : <Mono>{gatewayId}</Mono>],
    ['VPN address', vpnAddress === null ? 'none yet' : <Mono>{vpnAddress}</Mono>],
    ['Fingerprint', <Mono key="own">{fingerprint}</Mono>],
    ['The hub’s fingerprint', hubFingerprint === null ? 'not known yet' : <Mono>{hubFingerprint}</Mono>],
    ['Detections waiting', detectionsWaiting],
  ] as const
  return <DetailList details={details} />
}

/** The eye is no detector while no camera gives it a good picture. */
function eyeInWords(model: string | null): string {
  if (model === null) return 'none'
  return `${model === 'none' ? NO_MODEL : model}, but no camera gives it a good picture`
}
