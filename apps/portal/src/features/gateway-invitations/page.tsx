/** Gateway invitations: codes that approve devices without a person, each for a limited time and number of devices. */
import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'
import { isForbidden, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { useAskedAction } from '#parts/asked-action.ts'
import { InvitationTable } from '#parts/invitation-table.tsx'
import { RulesNotice } from '#parts/rules-notice.tsx'
import { PlusIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import type { OpenDialog } from './dialogs.tsx'
import { useInvitations } from './queries.ts'

const Dialogs = lazy(() => import('./dialogs.tsx'))

export function GatewayInvitationsPage() {
  const mayManage = mayManageFleet(useUser().role)
  const invitations = useInvitations(mayManage)
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  useDraft('gateway-invitations', dialog ?? undefined, setDialog)
  useAskedAction(['new'], (verb) => mayManage && setDialog({ verb }))
  const forbidden = !mayManage || isForbidden(invitations.error)
  return (
    <>
      <PageHead
        title="Gateway Invitations"
        lead="The auto-approval rules approve a device with an invitation’s code at once."
        actions={
          <>
            <Button component={Link} to="/gateway-approvals" variant="default">
              Back to Approvals
            </Button>
            <ReasonedButton
              leftSection={<PlusIcon />}
              reason={mayManage ? undefined : MANAGER_NEEDED}
              onClick={() => setDialog({ verb: 'new' })}
            >
              New Invitation
            </ReasonedButton>
          </>
        }
      />
      {invitations.isError && invitations.data !== undefined && !forbidden && (
        <Notice tone="warning">
          The list could not be refreshed and may be outdated: {messageOf(invitations.error)}
        </Notice>
      )}
      {!forbidden && <RulesNotice mayLeave />}
      <Panel title="Invitations">
        {forbidden ? (
          <PanelForbidden>Managers and administrators invite gateways.</PanelForbidden>
        ) : invitations.data === undefined ? (
          <PanelWaiting query={invitations} rows={4} label="Loading invitations" />
        ) : invitations.data.length === 0 ? (
          <PanelEmpty title="No invitations yet">
            An invitation sets up one or more devices with the same command.
          </PanelEmpty>
        ) : (
          <InvitationTable
            label="Gateway invitations"
            invitations={invitations.data}
            nameOf={({ label }) => label}
            onRevoke={(invitation) => setDialog({ verb: 'revoke', invitation })}
          />
        )}
      </Panel>
      <Suspense>{dialog !== null && <Dialogs dialog={dialog} onGone={() => setDialog(null)} />}</Suspense>
    </>
  )
}
