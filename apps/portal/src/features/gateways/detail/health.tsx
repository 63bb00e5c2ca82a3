import type { CameraState, GatewayDetail } from '@hedgerow/contract'
import { cameraWord } from '@hedgerow/contract/protection'
import type { ReactNode } from 'react'
import { HelpLink } from '#parts/help-link.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark, type MarkShape } from '@hedgerow/ui/status-mark.tsx'
import { clockOffset, formatDuration, formatLoad, restartsInWords } from './amounts.ts'
import styles from './gateway-page.module.css'

const DISK_HIGH = 0.9
const MEMORY_HIGH = 0.9
const percent = (fraction: number) => `${Math.round(fraction * 100)} %`

/** The content of the last heartbeat. */
export function Health({ gateway: { heartbeat, kind } }: { gateway: GatewayDetail }) {
  if (heartbeat === null) {
    return (
      <PanelEmpty title="No heartbeat yet">
        {kind === 'wireguard'
          ? 'A device with plain WireGuard sends none. It is online while it makes handshakes and its /api/health ' +
            'answers.'
          : 'The gateway sends one every 30 seconds once its tunnel is up.'}
      </PanelEmpty>
    )
  }
  const { detectors, problems } = heartbeat
  return (
    <>
      <div className={styles.part}>
        <dl className={styles.gauges}>
          <Gauge
            name="Load per core"
            value={formatLoad(heartbeat.load)}
            fraction={heartbeat.load}
            high={heartbeat.load > 1}
          />
          <Gauge
            name="Memory"
            value={percent(heartbeat.memory)}
            fraction={heartbeat.memory}
            high={heartbeat.memory > MEMORY_HIGH}
          />
          <Gauge
            name="Disk"
            value={percent(heartbeat.disk)}
            fraction={heartbeat.disk}
            high={heartbeat.disk > DISK_HIGH}
          />
          <Gauge
            name="Temperature"
            value={heartbeat.temperature === null ? 'Unknown' : `${Math.round(heartbeat.temperature)} °C`}
          />
          <Gauge name="Running for" value={formatDuration(heartbeat.uptimeSeconds)} />
          {heartbeat.restarts !== undefined && <Gauge name="Restarts" value={restartsInWords(heartbeat.restarts)} />}
          <Gauge name="Clock" value={clockOffset(heartbeat.clock, heartbeat.receivedAt)} />
        </dl>
      </div>
      {problems.length > 0 && (
        <Part title="Reported problems">
          <ul className={styles.problems}>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
          <HelpLink to="gateway-problems">What to do</HelpLink>
        </Part>
      )}
      {detectors.length > 0 && (
        <Part title="Detectors">
          <ul className={styles.items}>
            {detectors.map(({ name, inferenceMs }) => (
              <li key={name}>
                <span>{name}</span>
                <span>{inferenceMs.toFixed(1)} ms</span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      <div className={styles.part}>
        <p className={styles.seen}>
          Last heartbeat: <RelativeTime at={heartbeat.receivedAt} />
        </p>
      </div>
    </>
  )
}

/** The cameras of the last heartbeat. */
export function Cameras({ cameras }: Pick<NonNullable<GatewayDetail['heartbeat']>, 'cameras'>) {
  return (
    <div className={styles.part}>
      {cameras.length === 0 ? (
        <p className={styles.seen}>The gateway reports no camera.</p>
      ) : (
        <ul className={styles.items}>
          {cameras.map(({ name, state, fps }) => (
            <li key={name}>
              <StatusMark {...CAMERA[state]} word={name} />
              <span>{state === 'online' ? `${fps.toFixed(1)} FPS` : cameraWord(state)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const CAMERA: Record<CameraState, { shape: MarkShape }> = {
  online: { shape: 'dot' },
  frozen: { shape: 'diamond' },
  covered: { shape: 'diamond' },
  turned: { shape: 'diamond' },
  unfocused: { shape: 'diamond' },
  offline: { shape: 'diamond' },
  disabled: { shape: 'neutral' },
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.part}>
      <h3>{title}</h3>
      {children}
    </div>
  )
}

/** A figure; a fraction also has a bar. */
function Gauge({
  name,
  value,
  fraction,
  high = false,
}: {
  name: string
  value: string
  fraction?: number
  high?: boolean
}) {
  return (
    <div className={styles.gauge}>
      <dt>{name}</dt>
      <dd>
        {value}
        {fraction !== undefined && (
          <div className={styles.bar} data-high={high} aria-hidden="true">
            <div style={{ width: `${Math.min(100, fraction * 100)}%` }} />
          </div>
        )}
      </dd>
    </div>
  )
}
