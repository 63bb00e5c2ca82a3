/** Gateway invitations: codes that approve devices without a person, each for a limited time and number of devices. */
import type { GatewayInvitation } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { isForbidden, messageOf } from '#api/client.ts'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useInvitations } from '#api/gateway-invitations.ts'
import { useUser } from '#api/session.tsx'
import { InvitationTable } from '#parts/invitation-table.tsx'
import { RulesNotice } from '#parts/rules-notice.tsx'
import { PlusIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'

const RevokeDialog = lazy(() => import('./revoke-dialog.tsx'))

export function GatewayInvitationsPage() {
  const mayManage = mayManageFleet(useUser().role)
  const invitations = useInvitations(mayManage)
  const [revoked, setRevoked] = useState<GatewayInvitation | null>(null)
  const navigate = useNavigate()
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
              onClick={() => void navigate('/add-gateway')}
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
            extra={{ name: 'Gives', width: '18%', render: gifts }}
            invitations={invitations.data}
            nameOf={({ label }) => label}
            onRevoke={setRevoked}
          />
        )}
      </Panel>
      <Suspense>{revoked !== null && <RevokeDialog invitation={revoked} onGone={() => setRevoked(null)} />}</Suspense>
    </>
  )
}

const gifts = ({ site, location, tags, owner, approves }: GatewayInvitation) =>
  [...new Set([site?.name ?? '', location]), tags.join(', '), owner ?? '', approves ? '' : 'waits for approval']
    .filter((part) => part !== '')
    .join('; ')
