import type { HubUser } from '@hedgerow/contract'
import { useUser } from '#api/session.tsx'
import { ConfirmDialog } from '#parts/confirm-dialog.tsx'
import type { DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useActivateUser } from './queries.ts'

/** Deactivates a person, or activates one again. */
export function ActivateDialog({ user, ...life }: DialogLife & { user: HubUser }) {
  const self = useUser()
  const activate = useActivateUser(user.id)
  const verb = user.active ? 'Deactivate' : 'Activate'
  const confirm = async () => {
    await activate.mutateAsync(!user.active)
    void toast(`User "${user.username}" ${user.active ? 'deactivated' : 'activated'}.`)
  }
  return (
    <ConfirmDialog
      {...life}
      title={`${verb} ${user.username}?`}
      button={`${verb} User`}
      isHarmful={user.active}
      onConfirm={confirm}
    >
      {user.active ? (
        <p>
          They can’t sign in any more. Their sessions end at once, and their tokens for programs are deleted. Nothing
          else is, and you can activate them again.
        </p>
      ) : (
        <p>They can sign in again, with the same password and role. Programs need new tokens.</p>
      )}
      {user.id === self.id && <Notice tone="warning">This is your own account: this signs you out.</Notice>}
    </ConfirmDialog>
  )
}
