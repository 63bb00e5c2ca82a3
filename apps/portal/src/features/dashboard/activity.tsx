import type { ActivityEntry } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { ExactTime } from '@hedgerow/ui/relative-time.tsx'
import styles from './page.module.css'

const TONES = { error: 'danger', warning: 'warning', info: 'neutral', success: 'neutral' } as const
/** As many as fit beside the chart. */
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
            <div>
              <p>{entry.message}</p>
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
