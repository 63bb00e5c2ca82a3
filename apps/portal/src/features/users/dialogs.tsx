/** The dialogs of this screen, one per verb, loaded when the first one is opened. */
import type { HubUser, UserInvitation } from '@hedgerow/contract'
import { RevokeInvitationDialog } from '#parts/revoke-invitation-dialog.tsx'
import { useDialogLife, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { ActivateDialog } from './activate-dialog.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { ResetTwoFactorDialog } from './reset-two-factor-dialog.tsx'
import { labelOf } from './invitation-text.ts'
import { useRevokeInvitation } from './queries.ts'
import { UserDialog } from './user-dialog.tsx'

export type UserVerb = 'edit' | 'activate' | 'delete' | 'reset-two-factor'
export type OpenDialog =
  | { verb: 'add' }
  | { verb: UserVerb; user: HubUser; isLastAdmin: boolean }
  | { verb: 'invite' }
  | { verb: 'revoke'; invitation: UserInvitation }

export default function Dialogs({ dialog, onGone }: { dialog: OpenDialog; onGone: () => void }) {
  const life = useDialogLife(onGone)
  if (dialog.verb === 'invite') return <InviteDialog {...life} />
  if (dialog.verb === 'revoke') return <RevokeDialog {...life} invitation={dialog.invitation} />
  if (dialog.verb === 'add') return <UserDialog {...life} />
  const { verb, user, isLastAdmin } = dialog
  if (verb === 'edit') return <UserDialog {...life} user={user} isLastAdmin={isLastAdmin} />
  if (verb === 'activate') return <ActivateDialog {...life} user={user} />
  if (verb === 'delete') return <DeleteDialog {...life} user={user} />
  return <ResetTwoFactorDialog {...life} user={user} />
}

function RevokeDialog({ invitation, ...life }: DialogLife & { invitation: UserInvitation }) {
  const revoke = useRevokeInvitation()
  return (
    <RevokeInvitationDialog
      {...life}
      id={invitation.id}
      name={labelOf(invitation)}
      stays="Accounts that were created with it stay."
      revoke={revoke}
    />
  )
}
