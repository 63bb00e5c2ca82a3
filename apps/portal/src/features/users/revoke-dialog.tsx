import type { UserInvitation } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { labelOf } from './invitation-text.ts'
import { useRevokeInvitation } from './queries.ts'

/** Ends an invitation before its time. */
export function RevokeDialog({ invitation, opened, onClose, onGone }: DialogLife & { invitation: UserInvitation }) {
  const revoke = useRevokeInvitation()
  const submit = async () => {
    const done = await revoke.mutateAsync(invitation.id).then(
      () => true,
      () => false,
    )
    if (!done) return
    void toast(`Invitation "${labelOf(invitation)}" revoked.`)
    onClose()
  }
  return (
    <Dialog title={`Revoke ${labelOf(invitation)}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <p>Its code lets nobody in from now on. Accounts that were made with it stay.</p>
      {revoke.isError && <Notice tone="danger">{messageOf(revoke.error)}</Notice>}
      <DialogActions>
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button color="red" loading={revoke.isPending} onClick={() => void submit()}>
          Revoke
        </Button>
      </DialogActions>
    </Dialog>
  )
}
