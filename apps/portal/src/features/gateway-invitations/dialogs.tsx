/** The dialogs of this screen, loaded when the first one is opened. */
import { useState } from 'react'
import { NewDialog } from './new-dialog.tsx'
import type { OpenDialog } from './page.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'

export type DialogLife = { opened: boolean; onClose: () => void; onGone: () => void }

export default function Dialogs({ dialog, onGone }: { dialog: OpenDialog; onGone: () => void }) {
  const [opened, setOpened] = useState(true)
  const life = { opened, onClose: () => setOpened(false), onGone }
  if (dialog.verb === 'new') return <NewDialog {...life} />
  return <RevokeDialog {...life} invitation={dialog.invitation} />
}
