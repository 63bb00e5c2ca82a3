import type { ActivityEntry } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import { Thumbnail } from '#parts/thumbnail.tsx'
import { targetOf } from './targets.ts'
import styles from './page.module.css'

const TONES = { error: 'danger', warning: 'warning', info: 'neutral', success: 'neutral' } as const
/** The number of entries that fit beside the chart. */
const FIRST = 5

/** Recent activity, newest first. */
export function Activity({ entries }: { entries: readonly ActivityEntry[] }) {
  const [all, setAll] = useState(false)
  if (entries.length === 0) return <PanelEmpty title="No recent activity" />
  return (
    <>
      <ul className={styles.activity}>
        {(all ? entries : entries.slice(0, FIRST)).map((entry) => (
          <li key={entry.id}>
            {entry.detection?.hasThumbnail === true && entry.gatewayId !== null && (
              <Thumbnail gatewayId={entry.gatewayId} detectionId={entry.detection.id} />
            )}
            <div>
              <p>
                <Message entry={entry} />
              </p>
              <ExactTime at={entry.timestamp} />
            </div>
            <Chip tone={TONES[entry.type]}>{entry.type}</Chip>
          </li>
        ))}
      </ul>
      {entries.length > FIRST && (
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
