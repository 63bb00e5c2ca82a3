/** The dialog of this screen, loaded when it is opened. */
import type { GatewayInvitation } from '@hedgerow/contract'
import { RevokeInvitationDialog } from '#parts/revoke-invitation-dialog.tsx'
import { useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { useRevokeInvitation } from './queries.ts'

type RevokeProps = { invitation: GatewayInvitation; onGone: () => void }

export default function RevokeDialog({ invitation: { id, label }, onGone }: RevokeProps) {
  const life = useDialogLife(onGone)
  const revoke = useRevokeInvitation()
  return (
    <RevokeInvitationDialog {...life} id={id} name={label} stays="Gateways that joined with it stay." revoke={revoke} />
  )
}
