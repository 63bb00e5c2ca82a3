import type { ActivityEntry } from '@hedgerow/contract'
import { Chip } from '#ui/chip.tsx'
import { PanelEmpty } from '#ui/panel-states.tsx'
import styles from './page.module.css'

const TONES = { error: 'danger', warning: 'warning', info: 'neutral', success: 'neutral' } as const

/** What happened lately, newest first. */
export function Activity({ entries }: { entries: readonly ActivityEntry[] }) {
  if (entries.length === 0) return <PanelEmpty title="No recent activity" />
  return (
    <ul className={styles.activity} tabIndex={0} aria-label="Recent activity">
      {entries.map((entry) => (
        <li key={entry.id}>
          <div>
            <p>{entry.message}</p>
            <time dateTime={entry.timestamp}>{new Date(entry.timestamp).toLocaleString()}</time>
          </div>
          <Chip tone={TONES[entry.type]}>{entry.type}</Chip>
        </li>
      ))}
    </ul>
  )
}
