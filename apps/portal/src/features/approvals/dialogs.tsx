/** The dialogs of this screen, loaded when the first one is opened; Details leads on to the decision. */
import type { PendingRegistration, RejectedRegistration } from '@hedgerow/contract'
import { useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { useState } from 'react'
import { useDraft } from '#api/drafts.ts'
import { ApproveDialog } from './approve-dialog.tsx'
import { DetailsDialog } from './details-dialog.tsx'
import { LiftDialog } from './lift-dialog.tsx'
import type { Source } from './queries.ts'
import { RejectDialog } from './reject-dialog.tsx'
import { RejectSourceDialog } from './reject-source-dialog.tsx'
import { BulkDialog } from './bulk-dialog.tsx'

export type OpenDialog =
  | { verb: 'details' | 'approve' | 'reject'; registration: PendingRegistration }
  | { verb: 'approve-several' | 'reject-several'; registrations: readonly PendingRegistration[] }
  | { verb: 'reject-source'; source: Source }
  | { verb: 'lift'; rejected: RejectedRegistration }

export default function Dialogs({ first, onGone }: { first: OpenDialog; onGone: () => void }) {
  const [dialog, setDialog] = useState(first)
  useDraft('registrations.dialog', dialog, setDialog)
  const life = useDialogLife(onGone)
  if (dialog.verb === 'lift') return <LiftDialog {...life} {...dialog} />
  if (dialog.verb === 'reject-source') return <RejectSourceDialog {...life} source={dialog.source} />
  if ('registrations' in dialog) {
    const decision = dialog.verb === 'approve-several' ? 'approve' : 'reject'
    return <BulkDialog {...life} registrations={dialog.registrations} decision={decision} />
  }
  const { verb, registration } = dialog
  if (verb === 'approve') return <ApproveDialog {...life} registration={registration} />
  if (verb === 'reject') return <RejectDialog {...life} registration={registration} />
  return (
    <DetailsDialog
      {...life}
      registration={registration}
      onDecide={(decision) => setDialog({ verb: decision, registration })}
    />
  )
}
