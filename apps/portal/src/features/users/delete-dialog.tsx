import type { HubUser } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { useUser } from '#api/session.tsx'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useDeleteUser } from './queries.ts'

export function DeleteDialog({ user, opened, onClose, onGone }: DialogLife & { user: HubUser }) {
  const self = useUser()
  const remove = useDeleteUser(user.id)
  const submit = async () => {
    const done = await remove.mutateAsync().then(
      () => true,
      () => false,
    )
    if (!done) return
    void toast(`User "${user.username}" deleted.`)
    onClose()
  }
  return (
    <Dialog title={`Delete ${user.username}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <p>
        The account is deleted permanently, and its sessions end at once. Gateways that it claimed stay, without an
        owner. To only lock the account, make it inactive instead.
      </p>
      {user.id === self.id && <Notice tone="warning">This is your own account: deleting it signs you out.</Notice>}
      {remove.isError && <Notice tone="danger">{messageOf(remove.error)}</Notice>}
      <DialogActions>
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button color="red" loading={remove.isPending} onClick={() => void submit()}>
          Delete User
        </Button>
      </DialogActions>
    </Dialog>
  )
}
