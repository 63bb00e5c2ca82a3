/**
 * Pending Gateway Registrations: the requests to join, and the decisions about them. The hub enforces who may decide.
 */
import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'
import { isForbidden, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useGateways } from '#api/gateways.ts'
import { useHubSettings } from '#api/hub-settings.ts'
import { usePendingRegistrations } from '#api/pending-registrations.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { CheckIcon, MailIcon } from '@hedgerow/ui/icons.tsx'
import type { OpenDialog } from './dialogs.tsx'
import { EMPTY_TEXT, EMPTY_TITLE, fullHub, heldInQueue, loadFailed } from './messages.ts'
import { Rejected } from './rejected.tsx'
import { Bulk } from './bulk.tsx'
import { Sources } from './sources.tsx'
import { RegistrationTable } from './table.tsx'

const Dialogs = lazy(() => import('./dialogs.tsx'))

export function RegistrationsPage() {
  const { role } = useUser()
  const pending = usePendingRegistrations()
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  useDraft('registrations', dialog ?? undefined, setDialog)
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set())
  const waiting = pending.data?.length ?? 0
  const settings = useHubSettings().data
  const gateways = useGateways().data?.length ?? 0
  const full = settings && fullHub(gateways, settings.maxGateways, waiting)
  const forbidden = !mayManageFleet(role) || isForbidden(pending.error)
  // Requests that somebody else has decided are no longer selected.
  const selected = (pending.data ?? []).filter(({ registrationId }) => selection.has(registrationId))
  const select = (registrationId: string, wanted: boolean) => {
    const next = new Set(selected.map((one) => one.registrationId))
    if (wanted) next.add(registrationId)
    else next.delete(registrationId)
    setSelection(next)
  }

  return (
    <>
      <PageHead
        title="Pending Gateway Registrations"
        tab={waiting > 0 ? `Approvals (${waiting})` : 'Approvals'}
        lead="Devices that have proved their keys and wait for approval."
        actions={
          <>
            <Button component={Link} to="/gateway-invitations" variant="default" leftSection={<MailIcon />}>
              Invitations
            </Button>
            <Button component={Link} to="/auto-approval-settings" variant="default" leftSection={<CheckIcon />}>
              Auto-approval
            </Button>
          </>
        }
      />
      {pending.isError && pending.data !== undefined && !forbidden && (
        <Notice tone="warning">{loadFailed(messageOf(pending.error))}</Notice>
      )}
      {!forbidden &&
        heldInQueue(pending.data ?? []).map((sentence) => (
          <Notice key={sentence} tone="warning">
            {sentence}
          </Notice>
        ))}
      {!forbidden && full !== undefined && (
        <Notice tone="warning">
          {full} <Link to="/settings#maxGateways">raises the maximum number of gateways</Link> or{' '}
          <Link to="/gateways">deletes a gateway</Link>.
        </Notice>
      )}
      {!forbidden && waiting > 1 && <Sources onOpen={setDialog} />}
      <Panel
        title="Waiting for approval"
        actions={
          waiting > 1 && (
            <Bulk
              total={waiting}
              selected={selected}
              onSelectAll={(all) =>
                setSelection(new Set(all ? pending.data?.map((one) => one.registrationId) : undefined))
              }
              onOpen={setDialog}
            />
          )
        }
      >
        {forbidden ? (
          <PanelForbidden>Managers and administrators see the waiting devices, and decide about them.</PanelForbidden>
        ) : pending.data === undefined ? (
          <PanelWaiting query={pending} rows={4} label="Loading pending requests" describe={loadFailed} />
        ) : waiting === 0 ? (
          <PanelEmpty title={`${EMPTY_TITLE} - ${EMPTY_TEXT}`} />
        ) : (
          <RegistrationTable
            registrations={pending.data}
            selected={new Set(selected.map((one) => one.registrationId))}
            onSelect={select}
            onOpen={setDialog}
          />
        )}
      </Panel>
      {!forbidden && <Rejected onOpen={setDialog} />}
      <Suspense>{dialog !== null && <Dialogs first={dialog} onGone={() => setDialog(null)} />}</Suspense>
    </>
  )
}
