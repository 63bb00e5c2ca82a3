import { Button } from '@mantine/core'
import { useState } from 'react'
import { GatewayInvitationMade } from '#parts/gateway-invitation-made.tsx'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { AddForm, type Added } from './add-form.tsx'
import { VpnConfig } from './vpn-config.tsx'

/** Asks for the new gateway, and ends with the command or the configuration for its device. */
export function AddDialog({ opened, onClose, onGone }: DialogLife) {
  const [added, setAdded] = useState<Added | null>(null)
  return (
    <Dialog
      title={titleOf(added)}
      size={added === null ? 'md' : 'xl'}
      shownOnce={added?.kind === 'agent'}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {added === null ? (
        <AddForm onAdded={setAdded} />
      ) : added.kind === 'agent' ? (
        <GatewayInvitationMade made={added.made} command={added.command} onClose={onClose} />
      ) : (
        <>
          <Notice tone="good">
            The gateway is added. It is online after its first handshake; then the hub deletes the private key.
          </Notice>
          <VpnConfig gateway={added.gateway} />
          <DialogActions>
            <Button onClick={onClose}>Done</Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  )
}

function titleOf(added: Added | null): string {
  if (added === null) return 'Add Gateway'
  return `Set up ${added.kind === 'agent' ? added.made.invitation.label : added.gateway.name}`
}
