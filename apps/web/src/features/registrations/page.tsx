/** Pending Gateway Registrations: who asks to join, and the decision. The hub enforces who may decide. */
import type { PendingRegistration } from '@hedgerow/contract'
import { lazy, Suspense, useState } from 'react'
import { isForbidden, messageOf } from '#api/client.ts'
import { usePendingRegistrations } from '#api/pending-registrations.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { Notice } from '#ui/notice.tsx'
import { PageHead } from '#ui/page-head.tsx'
import { PanelEmpty, PanelError, PanelForbidden, PanelSkeleton } from '#ui/panel-states.tsx'
import { Panel } from '#ui/panel.tsx'
import { EMPTY_TEXT, EMPTY_TITLE, loadFailed } from './messages.ts'
import { RegistrationTable } from './table.tsx'

const Dialogs = lazy(() => import('./dialogs.tsx'))

export type OpenDialog = { verb: 'details' | 'approve' | 'reject'; registration: PendingRegistration }

export function RegistrationsPage() {
  const { role } = useUser()
  const pending = usePendingRegistrations()
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const waiting = pending.data?.length ?? 0
  const forbidden = !mayManageFleet(role) || isForbidden(pending.error)

  return (
    <>
      <PageHead
        title="Pending Gateway Registrations"
        tab={waiting > 0 ? `Approvals (${waiting})` : 'Approvals'}
        lead="Devices that have proved their keys and wait for somebody to let them in."
      />
      {pending.isError && pending.data !== undefined && !forbidden && (
        <Notice tone="warning">{loadFailed(messageOf(pending.error))}</Notice>
      )}
      <Panel title="Waiting for approval">
        {forbidden ? (
          <PanelForbidden>
            Managers and administrators see the devices that wait here, and decide about them.
          </PanelForbidden>
        ) : pending.isPending ? (
          <PanelSkeleton rows={4} label="Loading pending requests" />
        ) : pending.data === undefined ? (
          <PanelError
            message={loadFailed(messageOf(pending.error))}
            retrying={pending.isFetching}
            onRetry={() => void pending.refetch()}
          />
        ) : waiting === 0 ? (
          <PanelEmpty title={`${EMPTY_TITLE} - ${EMPTY_TEXT}`} />
        ) : (
          <RegistrationTable registrations={pending.data} onOpen={setDialog} />
        )}
      </Panel>
      <Suspense>
        {dialog !== null && (
          <Dialogs key={dialog.registration.registrationId} first={dialog} onGone={() => setDialog(null)} />
        )}
      </Suspense>
    </>
  )
}
