import type { ActivityEntry } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import { Thumbnail } from '#parts/thumbnail.tsx'
import { activityLines, FIRST_LINES } from './activity-lines.ts'
import { targetOf } from './targets.ts'
import styles from './page.module.css'

const TONES = { error: 'danger', warning: 'warning', info: 'neutral', success: 'neutral' } as const

/** Recent activity, newest first. */
export function Activity({ entries }: { entries: readonly ActivityEntry[] }) {
  const [all, setAll] = useState(false)
  if (entries.length === 0) return <PanelEmpty title="No recent activity" />
  const lines = all ? entries.map((entry) => ({ entry, others: 0 })) : activityLines(entries).slice(0, FIRST_LINES)
  return (
    <>
      <ul className={styles.activity}>
        {lines.map(({ entry, others }) => (
          <li key={entry.id}>
            {entry.detection?.hasThumbnail === true && entry.gatewayId !== null && (
              <Thumbnail gatewayId={entry.gatewayId} detectionId={entry.detection.id} />
            )}
            <div>
              <p>
                <Message entry={entry} />
              </p>
              <ExactTime at={entry.timestamp} />
              {others > 0 && <span className={styles.others}> and {others} more like it</span>}
            </div>
            <Chip tone={TONES[entry.type]}>{entry.type}</Chip>
          </li>
        ))}
      </ul>
      {(all || lines.length < entries.length) && (
        <Button className={styles.more ?? ''} variant="subtle" size="sm" fullWidth onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${entries.length}`}
        </Button>
      )}
    </>
  )
}

function Message({ entry }: { entry: ActivityEntry }) {
  const target = targetOf(entry)
  return target === undefined ? entry.message : <Link to={target}>{entry.message}</Link>
}
