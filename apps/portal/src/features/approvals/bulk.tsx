import type { PendingRegistration } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import type { OpenDialog } from './dialogs.tsx'
import { fitting, NO_ROOM } from './messages.ts'
import { useRoom } from './use-room.ts'
import styles from './page.module.css'

type BulkProps = {
  total: number
  selected: readonly PendingRegistration[]
  onSelectAll: (all: boolean) => void
  onOpen: (dialog: OpenDialog) => void
}

/** Selects all requests, and decides about the selected ones. */
export function Bulk({ total, selected, onSelectAll, onOpen }: BulkProps) {
  const none = selected.length === 0
  const noneFits = fitting(selected, useRoom()).length === 0
  return (
    <div className={styles.several}>
      <output className={styles.count}>{none ? '' : `${selected.length} selected`}</output>
      <TickBox checked={selected.length === total} onChange={onSelectAll}>
        Select all
      </TickBox>
      <Button
        size="compact-sm"
        disabled={noneFits}
        {...(noneFits && !none && { title: NO_ROOM })}
        onClick={() => onOpen({ verb: 'approve-several', registrations: selected })}
      >
        Approve selected
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        disabled={none}
        onClick={() => onOpen({ verb: 'reject-several', registrations: selected })}
      >
        Reject selected
      </Button>
    </div>
  )
}
