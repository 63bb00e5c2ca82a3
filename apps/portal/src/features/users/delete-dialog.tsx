import type { HubUser } from '@hedgerow/contract'
import { useUser } from '#api/session.tsx'
import { ConfirmDialog } from '#parts/confirm-dialog.tsx'
import type { DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useDeleteUser } from './queries.ts'

export function DeleteDialog({ user, ...life }: DialogLife & { user: HubUser }) {
  const self = useUser()
  const remove = useDeleteUser(user.id)
  const confirm = async () => {
    await remove.mutateAsync()
    void toast(`User "${user.username}" deleted.`)
  }
  return (
    <ConfirmDialog {...life} title={`Delete ${user.username}?`} button="Delete User" isHarmful onConfirm={confirm}>
      <p>
        The account is deleted permanently, and its sessions end at once. Gateways that it claimed stay, without an
        owner. To only lock the account, make it inactive instead.
      </p>
      {user.id === self.id && <Notice tone="warning">This is your own account: deleting it signs you out.</Notice>}
    </ConfirmDialog>
  )
}
