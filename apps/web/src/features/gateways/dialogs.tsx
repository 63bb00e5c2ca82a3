/** The dialogs of the gateway screen, one per verb, loaded when the first one is opened. */
import { useState } from 'react'
import { AddDialog } from './add-dialog.tsx'
import { ClaimDialog } from './claim-dialog.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import type { OpenDialog } from './page.tsx'
import { VpnDialog } from './vpn-dialog.tsx'

/** `onGone` follows the closing animation, so that a dialog keeps its content while it fades. */
export default function Dialogs({ dialog, onGone }: { dialog: OpenDialog; onGone: () => void }) {
  const [opened, setOpened] = useState(true)
  const life = { opened, onClose: () => setOpened(false), onGone }
  if (dialog.verb === 'add') return <AddDialog {...life} />
  if (dialog.verb === 'claim') return <ClaimDialog {...life} deviceToken={dialog.deviceToken} />
  if (dialog.verb === 'vpn') return <VpnDialog {...life} gateway={dialog.gateway} />
  return <ConnectDialog {...life} gateway={dialog.gateway} />
}

export type DialogLife = { opened: boolean; onClose: () => void; onGone: () => void }
