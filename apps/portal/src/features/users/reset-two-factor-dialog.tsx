import type { HubUser } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useResetTwoFactor } from './queries.ts'

/** For somebody who lost both the authenticator and the recovery codes. */
export function ResetTwoFactorDialog({ user, opened, onClose, onGone }: DialogLife & { user: HubUser }) {
  const reset = useResetTwoFactor(user.id)
  const submit = async () => {
    const done = await reset.mutateAsync().then(
      () => true,
      () => false,
    )
    if (!done) return
    void toast(`Two-factor of "${user.username}" is off.`)
    onClose()
  }
  return (
    <Dialog title={`Reset two-factor of ${user.username}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <p>
        For somebody who lost their authenticator and their recovery codes. After this, the password alone is enough,
        and all their sessions end. First make sure that the request really comes from them.
      </p>
      {reset.isError && <Notice tone="danger">{messageOf(reset.error)}</Notice>}
      <DialogActions>
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button color="red" loading={reset.isPending} onClick={() => void submit()}>
          Reset Two-Factor
        </Button>
      </DialogActions>
    </Dialog>
  )
}
