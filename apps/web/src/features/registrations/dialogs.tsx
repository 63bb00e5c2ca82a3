/** The dialogs of one pending registration, loaded when the first one is opened; Details leads on to the decision. */
import { useState } from 'react'
import { ApproveDialog } from './approve-dialog.tsx'
import { DetailsDialog } from './details-dialog.tsx'
import type { OpenDialog } from './page.tsx'
import { RejectDialog } from './reject-dialog.tsx'

/** `onGone` follows the closing animation, so that a dialog keeps its content while it fades. */
export default function Dialogs({ first, onGone }: { first: OpenDialog; onGone: () => void }) {
  const [verb, setVerb] = useState(first.verb)
  const [opened, setOpened] = useState(true)
  const { registration } = first
  const life = { registration, opened, onClose: () => setOpened(false), onGone }
  if (verb === 'details') return <DetailsDialog {...life} onDecide={setVerb} />
  if (verb === 'approve') return <ApproveDialog {...life} />
  return <RejectDialog {...life} />
}
