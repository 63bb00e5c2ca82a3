import type { RejectedRegistration } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { Dialog, DialogActions } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useLift } from './queries.ts'

type LiftDialogProps = { rejected: RejectedRegistration; opened: boolean; onClose: () => void; onGone: () => void }

/** Withdraws a rejection. The device may ask again, and then waits for a decision. */
export function LiftDialog({ rejected, opened, onClose, onGone }: LiftDialogProps) {
  const lift = useLift()
  const submit = async () => {
    const answer = await lift.mutateAsync(rejected.registrationId).catch(() => undefined)
    if (answer === undefined) return
    void toast(`Gateway "${answer.deviceName}" may ask again.`)
    onClose()
  }
  return (
    <Dialog title={`Let ${rejected.deviceName} ask again?`} opened={opened} onClose={onClose} onGone={onGone}>
      <p>This withdraws the rejection. The device’s next request waits for a decision like any other.</p>
      {lift.isError && <Notice tone="danger">{messageOf(lift.error)}</Notice>}
      <DialogActions>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button loading={lift.isPending} onClick={() => void submit()} data-autofocus>
          Let it ask again
        </Button>
      </DialogActions>
    </Dialog>
  )
}
