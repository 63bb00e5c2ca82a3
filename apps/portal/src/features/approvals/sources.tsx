import { Button } from '@mantine/core'
import type { OpenDialog } from './dialogs.tsx'
import { rejectAllOf } from './messages.ts'
import { useSources } from './queries.ts'
import styles from './page.module.css'

/** Rejects all requests of an address or network that sent many. Hidden when none did. */
export function Sources({ onOpen }: { onOpen: (dialog: OpenDialog) => void }) {
  const sources = useSources()
  if (sources.data === undefined || sources.data.length === 0) return null
  return (
    <ul className={styles.sources} aria-label="Sources of many requests">
      {sources.data.map((source) => (
        <li key={source.source}>
          <Button size="compact-sm" variant="default" onClick={() => onOpen({ verb: 'reject-source', source })}>
            {rejectAllOf(source)}
          </Button>
        </li>
      ))}
    </ul>
  )
}
