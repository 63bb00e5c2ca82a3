/** The dialogs of this screen, loaded when the first one is opened. */
import type { GatewayInvitation } from '@hedgerow/contract'
import { RevokeInvitationDialog } from '#parts/revoke-invitation-dialog.tsx'
import { useDialogLife, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { NewDialog } from './new-dialog.tsx'
import { useRevokeInvitation } from './queries.ts'

export type OpenDialog = { verb: 'new' } | { verb: 'revoke'; invitation: GatewayInvitation }

export default function Dialogs({ dialog, onGone }: { dialog: OpenDialog; onGone: () => void }) {
  const life = useDialogLife(onGone)
  return dialog.verb === 'new' ? <NewDialog {...life} /> : <RevokeDialog {...life} invitation={dialog.invitation} />
}

function RevokeDialog({ invitation: { id, label }, ...life }: DialogLife & { invitation: GatewayInvitation }) {
  const revoke = useRevokeInvitation()
  return (
    <RevokeInvitationDialog {...life} id={id} name={label} stays="Gateways that joined with it stay." revoke={revoke} />
  )
}
