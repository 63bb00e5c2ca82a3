import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { VpnConfig } from './vpn-config.tsx'

/** A gateway's WireGuard configuration. */
export function VpnDialog({ gateway, opened, onClose, onGone }: DialogLife & { gateway: Gateway }) {
  return (
    <Dialog title={`VPN configuration of ${gateway.name}`} size="xl" opened={opened} onClose={onClose} onGone={onGone}>
      <VpnConfig gateway={gateway} />
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  )
}
