import type { ActivityEntry } from '@hedgerow/contract'
import { Link } from 'react-router'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import { Thumbnail } from '#parts/thumbnail.tsx'
import { activityLines } from './activity-lines.ts'
import { targetOf } from './targets.ts'
import styles from './page.module.css'

const TONES = { error: 'danger', warning: 'warning', info: 'neutral', success: 'neutral' } as const

/** Recent activity, newest first. */
export function Activity({ entries }: { entries: readonly ActivityEntry[] }) {
  if (entries.length === 0) return <PanelEmpty title="No recent activity" />
  return (
    <ul className={styles.activity}>
      {activityLines(entries).map(({ entry, times }) => (
        <li key={entry.id}>
          {entry.detection?.hasThumbnail === true && entry.gatewayId !== null && (
            <Thumbnail gatewayId={entry.gatewayId} detectionId={entry.detection.id} />
          )}
          <div>
            <p>
              <Message entry={entry} />
            </p>
            <ExactTime at={entry.timestamp} />
            {times > 1 && <span className={styles.times}>, {times} times within a minute</span>}
          </div>
          <Chip tone={TONES[entry.type]}>{entry.type}</Chip>
        </li>
      ))}
    </ul>
  )
}

function Message({ entry }: { entry: ActivityEntry }) {
  const target = targetOf(entry)
  return target === undefined ? entry.message : <Link to={target}>{entry.message}</Link>
}
