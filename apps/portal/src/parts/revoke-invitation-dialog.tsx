import type { UseMutationResult } from '@tanstack/react-query'
import type { DialogLife } from '@hedgerow/ui/dialog.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'

type RevokeInvitationDialogProps = DialogLife & {
  id: string
  name: string
  /** What stays after the revocation: the gateways or the accounts. */
  stays: string
  revoke: UseMutationResult<unknown, Error, string>
}

/** Ends an invitation before its time. */
export function RevokeInvitationDialog({ id, name, stays, revoke, ...life }: RevokeInvitationDialogProps) {
  const confirm = async () => {
    await revoke.mutateAsync(id)
    void toast(`Invitation "${name}" revoked.`)
  }
  return (
    <ConfirmDialog {...life} title={`Revoke ${name}?`} button="Revoke" isHarmful onConfirm={confirm}>
      <p>Its code stops working at once. {stays}</p>
    </ConfirmDialog>
  )
}
