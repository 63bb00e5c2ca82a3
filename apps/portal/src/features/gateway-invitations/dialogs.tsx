/** The dialogs of this screen, loaded when the first one is opened. */
import type { GatewayInvitation } from '@hedgerow/contract'
import { useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { NewDialog } from './new-dialog.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'

export type OpenDialog = { verb: 'new' } | { verb: 'revoke'; invitation: GatewayInvitation }

export default function Dialogs({ dialog, onGone }: { dialog: OpenDialog; onGone: () => void }) {
  const life = useDialogLife(onGone)
  if (dialog.verb === 'new') return <NewDialog {...life} />
  return <RevokeDialog {...life} invitation={dialog.invitation} />
}
