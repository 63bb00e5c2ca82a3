import { Button } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { messageOf } from '#api/client.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'

type RevokeInvitationDialogProps = DialogLife & {
  id: string
  name: string
  /** What stays after the revocation: the gateways or the accounts. */
  stays: string
  revoke: UseMutationResult<unknown, Error, string>
}

/** Ends an invitation before its time. */
export function RevokeInvitationDialog({ id, name, stays, revoke, ...life }: RevokeInvitationDialogProps) {
  const submit = async () => {
    const done = await revoke.mutateAsync(id).then(
      () => true,
      () => false,
    )
    if (!done) return
    void toast(`Invitation "${name}" revoked.`)
    life.onClose()
  }
  return (
    <Dialog title={`Revoke ${name}?`} {...life}>
      <p>Its code stops working at once. {stays}</p>
      {revoke.isError && <Notice tone="danger">{messageOf(revoke.error)}</Notice>}
      <DialogActions>
        <Button variant="default" onClick={life.onClose} data-autofocus>
          Cancel
        </Button>
        <Button color="red" loading={revoke.isPending} onClick={() => void submit()}>
          Revoke
        </Button>
      </DialogActions>
    </Dialog>
  )
}
