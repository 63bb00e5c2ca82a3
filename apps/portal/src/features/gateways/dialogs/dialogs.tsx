/** The dialogs of one gateway and of the fleet, one per verb, loaded when the first one is opened. */
import type { Gateway } from '@hedgerow/contract'
import { useDialogLife } from '@hedgerow/ui/dialog.tsx'
import DisarmDialog from '#parts/disarm-dialog.tsx'
import SnoozeDialog from '#parts/snooze-dialog.tsx'
import { BulkDeleteDialog } from './bulk-delete-dialog.tsx'
import { BulkEditDialog } from './bulk-edit-dialog.tsx'
import { BulkSiteDialog } from './bulk-site-dialog.tsx'
import { BulkTagDialog } from './bulk-tag-dialog.tsx'
import { ClaimDialog } from './claim-dialog.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { VpnDialog } from './vpn-dialog.tsx'

export type GatewayVerb = 'connect' | 'disarm' | 'snooze' | 'edit' | 'vpn' | 'delete'

export type OpenDialog =
  | { verb: 'claim'; deviceToken: string }
  | { verb: GatewayVerb; gateway: Gateway }
  | { verb: 'edit-several' | 'tag-several' | 'place-several' | 'delete-several'; gateways: readonly Gateway[] }

type DialogsProps = { dialog: OpenDialog; onGone: () => void; onDeleted?: () => void }

export default function Dialogs({ dialog, onGone, onDeleted = () => undefined }: DialogsProps) {
  const life = useDialogLife(onGone)
  if (dialog.verb === 'claim') return <ClaimDialog {...life} deviceToken={dialog.deviceToken} />
  if ('gateways' in dialog) {
    const { verb, gateways } = dialog
    if (verb === 'edit-several') return <BulkEditDialog {...life} gateways={gateways} />
    if (verb === 'tag-several') return <BulkTagDialog {...life} gateways={gateways} />
    if (verb === 'place-several') return <BulkSiteDialog {...life} gateways={gateways} />
    return <BulkDeleteDialog {...life} gateways={gateways} />
  }
  const { gateway } = dialog
  if (dialog.verb === 'disarm') return <DisarmDialog gateway={gateway} onGone={onGone} />
  if (dialog.verb === 'snooze') return <SnoozeDialog gateway={gateway} onGone={onGone} />
  if (dialog.verb === 'edit') return <EditDialog {...life} gateway={gateway} />
  if (dialog.verb === 'vpn') return <VpnDialog {...life} gateway={gateway} />
  if (dialog.verb === 'delete') return <DeleteDialog {...life} gateway={gateway} onDeleted={onDeleted} />
  return <ConnectDialog {...life} gateway={gateway} />
}
