import type { HubUser } from '@hedgerow/contract'
import { ConfirmDialog } from '#parts/confirm-dialog.tsx'
import type { DialogLife } from '@hedgerow/ui/dialog.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useResetTwoFactor } from './queries.ts'

/** For somebody who lost both the authenticator and the recovery codes. */
export function ResetTwoFactorDialog({ user, ...life }: DialogLife & { user: HubUser }) {
  const reset = useResetTwoFactor(user.id)
  const title = `Reset two-factor of ${user.username}?`
  const confirm = async () => {
    await reset.mutateAsync()
    void toast(`Two-factor of "${user.username}" is off.`)
  }
  return (
    <ConfirmDialog {...life} title={title} button="Reset Two-Factor" isHarmful onConfirm={confirm}>
      <p>
        For somebody who lost their authenticator and their recovery codes. After this, the password alone is enough,
        and all their sessions end. First make sure that the request really comes from them.
      </p>
    </ConfirmDialog>
  )
}
