/** The dialogs of this screen, one per verb, loaded when the first one is opened. */
import { useState } from 'react'
import { DeleteDialog } from './delete-dialog.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import type { OpenDialog } from './page.tsx'
import { ResetTwoFactorDialog } from './reset-two-factor-dialog.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'
import { UserDialog } from './user-dialog.tsx'

export type DialogLife = { opened: boolean; onClose: () => void; onGone: () => void }

/** `onGone` follows the closing animation, so that a dialog keeps its content while it fades. */
export default function Dialogs({ dialog, onGone }: { dialog: OpenDialog; onGone: () => void }) {
  const [opened, setOpened] = useState(true)
  const life = { opened, onClose: () => setOpened(false), onGone }
  if (dialog.verb === 'invite') return <InviteDialog {...life} />
  if (dialog.verb === 'revoke') return <RevokeDialog {...life} invitation={dialog.invitation} />
  if (dialog.verb === 'add') return <UserDialog {...life} />
  const { verb, user, isLastAdmin } = dialog
  if (verb === 'edit') return <UserDialog {...life} user={user} isLastAdmin={isLastAdmin} />
  if (verb === 'delete') return <DeleteDialog {...life} user={user} />
  return <ResetTwoFactorDialog {...life} user={user} />
}
