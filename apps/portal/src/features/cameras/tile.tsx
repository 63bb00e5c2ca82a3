import type { Camera } from '@hedgerow/contract'
import { useCallback } from 'react'
import { Link } from 'react-router'
import { useKnownGateway } from '#api/gateways.ts'
import { placeOf } from '#api/places.ts'
import { loadCameraPicture } from '#api/cameras.ts'
import { LivePicture } from '@hedgerow/ui/live-picture.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { ProtectionChip } from '#parts/gateway-state.tsx'
import { ProtectionControls } from '#parts/protection-controls.tsx'
import styles from './cameras.module.css'

/** One camera. A click opens its incidents. */
export function Tile({ camera }: { camera: Camera }) {
  const { gatewayId, gatewayName, name, state, problem, protection, lastIncident } = camera
  const gateway = useKnownGateway(gatewayId)
  const timeZone = gateway?.timeZone ?? null
  const snoozes = (gateway?.snoozes ?? []).filter((one) => one.camera === null || one.camera === name)
  const load = useCallback((signal: AbortSignal) => loadCameraPicture({ gatewayId, name }, signal), [gatewayId, name])
  return (
    <li className={styles.tile} data-state={state}>
      <Link to={`/threats?gateway=${gatewayId}&camera=${encodeURIComponent(name)}`}>
        <LivePicture
          load={load}
          alt={`${name} at ${gatewayName}`}
          off={state === 'offline' ? (problem ?? 'Offline') : state === 'disabled' ? 'Switched off' : undefined}
          problem={problem ?? (state === 'frozen' ? 'Picture frozen' : undefined)}
        />
        <span className={styles.name}>
          <strong>{name}</strong> <ProtectionChip protection={protection} timeZone={timeZone} />
        </span>
        <span className={styles.where}>
          {gatewayName}
          {placeOf(camera) !== '' && `, ${placeOf(camera)}`}
        </span>
        <span className={styles.last} data-severity={lastIncident?.severity}>
          {lastIncident === null ? (
            'Nothing seen yet'
          ) : (
            <>
              <span>{lastIncident.label}</span> <RelativeTime at={lastIncident.startedAt} />
            </>
          )}
        </span>
      </Link>
      <ProtectionControls gateway={{ id: gatewayId, name: gatewayName, protection, snoozes, camera: name }} size="xs" />
    </li>
  )
}
