import type { UserInvitation } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { useHubSettings } from '#api/hub-settings.ts'
import { ADMIN_NEEDED } from '#api/roles.ts'
import { ActionsCell, Cell, DataTable, Row, type Column } from '@hedgerow/ui/data-table.tsx'
import { MailIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty, PanelError, PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime, TimeLeft } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark, type MarkShape } from '@hedgerow/ui/status-mark.tsx'
import { labelOf } from './invitation-text.ts'
import type { OpenDialog } from './dialogs.tsx'
import { useInvitations } from './queries.ts'
import { RoleMark } from './role-mark.tsx'
import styles from './page.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'Label' },
  { name: 'Role', width: '12%' },
  { name: 'Status', width: '13%' },
  { name: 'Used', width: '9%', numeric: true },
  { name: 'Expires', width: '18%' },
  { name: 'Created', width: '11%' },
  { name: 'Created By', width: '12%' },
  { name: 'Actions', width: '100px' },
]

const STATUS: Record<UserInvitation['status'], { shape: MarkShape; word: string }> = {
  active: { shape: 'dot', word: 'Active' },
  used_up: { shape: 'neutral', word: 'Used up' },
  expired: { shape: 'neutral', word: 'Expired' },
  revoked: { shape: 'ring', word: 'Revoked' },
}

type InvitationsProps = { mayChange: boolean; onOpen: (dialog: OpenDialog) => void }

/** Codes with which people make their own accounts, each for a role, a while and a number of people. */
export function Invitations({ mayChange, onOpen }: InvitationsProps) {
  const invitations = useInvitations(true)
  const closed = useHubSettings().data?.openRegistration === false
  return (
    <Panel
      title="Invitations"
      actions={
        <ReasonedButton
          size="compact-sm"
          variant="default"
          leftSection={<MailIcon />}
          reason={mayChange ? undefined : ADMIN_NEEDED}
          onClick={() => onOpen({ verb: 'invite' })}
        >
          Invite
        </ReasonedButton>
      }
    >
      {closed && (
        <div className={styles.note}>
          <Notice tone="plain">
            Registration is closed, so invitations let nobody in until it is opened under Settings, Security.
          </Notice>
        </div>
      )}
      {invitations.isPending ? (
        <PanelSkeleton rows={2} label="Loading invitations" />
      ) : invitations.data === undefined ? (
        <PanelError
          message={messageOf(invitations.error)}
          retrying={invitations.isFetching}
          onRetry={() => void invitations.refetch()}
        />
      ) : invitations.data.length === 0 ? (
        <PanelEmpty title="No invitations yet">
          Invite somebody, and they choose their own username and password at the Create Account page.
        </PanelEmpty>
      ) : (
        <DataTable label="User invitations" columns={COLUMNS} rowCount={invitations.data.length}>
          {invitations.data.map((invitation, index) => (
            <Row key={invitation.id} index={index}>
              <Cell label="Label" place="title">
                <strong>{labelOf(invitation)}</strong>
              </Cell>
              <Cell label="Role">
                <RoleMark role={invitation.role} />
              </Cell>
              <Cell label="Status" place="line">
                <StatusMark {...STATUS[invitation.status]} />
              </Cell>
              <Cell label="Used" numeric>
                {invitation.uses.toLocaleString()} of {invitation.maxUses.toLocaleString()}
              </Cell>
              <Cell label="Expires">
                <TimeLeft until={invitation.expiresAt} />
              </Cell>
              <Cell label="Created">
                <RelativeTime at={invitation.createdAt} />
              </Cell>
              <Cell label="Created By">{invitation.createdBy}</Cell>
              <ActionsCell>
                {invitation.status === 'active' && mayChange && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Revoke ${labelOf(invitation)}`}
                    onClick={() => onOpen({ verb: 'revoke', invitation })}
                  >
                    Revoke
                  </Button>
                )}
              </ActionsCell>
            </Row>
          ))}
        </DataTable>
      )}
    </Panel>
  )
}
