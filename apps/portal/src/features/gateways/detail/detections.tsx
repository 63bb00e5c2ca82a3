import type { GatewayDetail, StoredDetection } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { useThumbnail } from '#api/thumbnail.ts'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { useDetections } from '../queries.ts'
import styles from './gateway-page.module.css'

const FIRST = 12

/** The newest detections of its cameras. */
export function Detections({ gateway }: { gateway: GatewayDetail }) {
  const detections = useDetections(gateway.id)
  const [all, setAll] = useState(false)
  if (detections.data === undefined) return <PanelWaiting query={detections} rows={6} label="Loading detections" />
  if (detections.data.length === 0) {
    return <PanelEmpty title="No detections yet">Detections of its cameras appear here as they arrive.</PanelEmpty>
  }
  // A gateway that sends no pictures at all gets a denser list instead of empty frames.
  const pictures = detections.data.some(({ hasThumbnail }) => hasThumbnail)
  return (
    <>
      <ul className={styles.detections}>
        {(all ? detections.data : detections.data.slice(0, FIRST)).map((detection) => (
          <li key={detection.id}>
            {pictures && <Thumbnail gatewayId={gateway.id} detection={detection} />}
            <div className={styles.caption}>
              <strong>
                {detection.incidentId === null ? (
                  detection.label
                ) : (
                  <Link className={styles.open} to={`/threats?gateway=${gateway.id}&incident=${detection.incidentId}`}>
                    {detection.label}
                  </Link>
                )}
              </strong>
              <Chip tone={toneOf(detection)}>{wordOf(detection)}</Chip>
            </div>
            <small>
              {detection.camera}, {Math.round(detection.score * 100)} %, <RelativeTime at={detection.startedAt} />
            </small>
            {detection.deterrent !== null && <small>{detection.deterrent}</small>}
          </li>
        ))}
      </ul>
      {detections.data.length > FIRST && (
        <Button className={styles.more ?? ''} variant="subtle" size="sm" fullWidth onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${detections.data.length}`}
        </Button>
      )}
    </>
  )
}

const toneOf = ({ severity, falsePositive }: StoredDetection) =>
  severity === 'alert' && falsePositive !== true ? 'danger' : 'neutral'

function wordOf({ severity, falsePositive }: StoredDetection): string {
  if (falsePositive === true) return 'false alarm'
  return severity === 'alert' ? 'alert' : 'detection'
}

function Thumbnail({ gatewayId, detection }: { gatewayId: string; detection: StoredDetection }) {
  const { address, isError } = useThumbnail(gatewayId, detection.id, detection.hasThumbnail)
  return (
    <div className={styles.frame}>
      {address !== undefined ? (
        <img src={address} alt={`${detection.label} at ${detection.camera}`} />
      ) : !detection.hasThumbnail || isError ? (
        'No picture'
      ) : null}
    </div>
  )
}
