import { Button } from '@mantine/core'
import { DialogActions } from '@hedgerow/ui/dialog.tsx'
import type { OneByOne } from './one-by-one.ts'
import styles from './outcome-list.module.css'

type BulkActionsProps = {
  work: OneByOne
  /** How many items there are. */
  count: number
  /** What happens to them: `Approve`. */
  verb: string
  color?: 'red'
  disabled?: boolean
  onClose: () => void
}

/** The buttons of a bulk action, and how far it is: the list may be longer than the screen. */
export function BulkActions({ work, count, verb, color, disabled = false, onClose }: BulkActionsProps) {
  const { outcomes, working, finished, stop } = work
  const left = count - outcomes.size
  const failed = [...outcomes.values()].filter(({ done }) => !done).length
  return (
    <DialogActions>
      <output className={styles.progress}>
        {outcomes.size > 0 && `${outcomes.size - failed} of ${count} done`}
        {failed > 0 && `, ${failed} failed`}
      </output>
      {working ? (
        <Button variant="default" onClick={stop}>
          Stop
        </Button>
      ) : (
        <Button variant="default" onClick={onClose}>
          {finished ? 'Close' : 'Cancel'}
        </Button>
      )}
      {!finished && (
        <Button type="submit" loading={working} disabled={disabled} {...(color && { color })}>
          {`${verb} ${left}`}
        </Button>
      )}
    </DialogActions>
  )
}
