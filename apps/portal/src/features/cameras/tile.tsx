import type { Camera } from '@hedgerow/contract'
import { useDocumentVisibility, useIntersection } from '@mantine/hooks'
import { Link } from 'react-router'
import { useNow } from '@hedgerow/ui/now.ts'
import { lastSeen } from '@hedgerow/ui/last-seen.ts'
import { useLivePicture } from './queries.ts'
import styles from './cameras.module.css'

const REFRESH_MS = 5_000
/** A picture that is older says so. */
const STALE_MS = 20_000

/** One camera: pulled while it is in view and the page is looked at. A click leads to what it saw. */
export function Tile({ camera }: { camera: Camera }) {
  const { gatewayId, gatewayName, location, name, state } = camera
  const { ref, entry } = useIntersection({ rootMargin: '100px' })
  const isVisible = useDocumentVisibility() === 'visible'
  const now = useNow()
  const isLookedAt = isVisible && state === 'online' && (entry?.isIntersecting ?? false)
  const { shown, problem } = useLivePicture(camera, { isLookedAt, everyMs: REFRESH_MS })
  const isStale = shown !== undefined && now - shown.takenAt > STALE_MS
  return (
    <li ref={ref} className={styles.tile} data-state={state}>
      <Link to={`/threats?gateway=${gatewayId}&camera=${encodeURIComponent(name)}`}>
        <span className={styles.picture}>
          {shown === undefined ? (
            <span>{state === 'online' ? (problem ?? 'Loading…') : WORDS[state]}</span>
          ) : (
            <img src={shown.address} alt={`${name} at ${gatewayName}`} data-stale={isStale} />
          )}
          {isStale && <span className={styles.age}>{lastSeen(new Date(shown.takenAt).toISOString(), now)}</span>}
        </span>
        <strong>{name}</strong>
        <span className={styles.where}>
          {gatewayName}
          {location !== '' && `, ${location}`}
        </span>
      </Link>
    </li>
  )
}

const WORDS = { offline: 'Offline', disabled: 'Switched off' } as const
