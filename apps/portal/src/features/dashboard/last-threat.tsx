import { deedLines } from '@hedgerow/contract/protection'
import { Link } from 'react-router'
import { useKnownGateway } from '#api/gateways.ts'
import { placeOf } from '#api/places.ts'
import { Thumbnail } from '#parts/thumbnail.tsx'
import { SiteTime } from '@hedgerow/ui/relative-time.tsx'
import { useLastThreat } from './queries.ts'
import styles from './page.module.css'

/** What it was, where, and whether it went: the newest alert of the last 24 hours. */
export function LastThreat() {
  const { data } = useLastThreat()
  const timeZone = useKnownGateway(data?.gatewayId ?? '')?.timeZone ?? null
  if (!data) return null
  const { id, gatewayId, gatewayName, label, coverId, startedAt } = data
  const place = placeOf(data)
  return (
    <section aria-label="Last threat">
      <Link to={`/threats?incident=${id}`} className={styles.last}>
        {coverId !== null && <Thumbnail gatewayId={gatewayId} detectionId={coverId} />}
        <span>
          <strong>
            {label} at {gatewayName}
            {place !== '' && `, ${place}`}
          </strong>
          <span>{deedLines(data).join('; ')}</span>
          <SiteTime at={startedAt} timeZone={timeZone} />
        </span>
      </Link>
    </section>
  )
}
