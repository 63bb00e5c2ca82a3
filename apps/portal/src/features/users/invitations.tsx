import { useHubSettings } from '#api/hub-settings.ts'
import { ADMIN_NEEDED } from '#api/roles.ts'
import { InvitationTable } from '#parts/invitation-table.tsx'
import { MailIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { labelOf } from './invitation-text.ts'
import type { OpenDialog } from './dialogs.tsx'
import { useInvitations } from './queries.ts'
import { RoleMark } from './role-mark.tsx'
import styles from './page.module.css'

type InvitationsProps = { mayChange: boolean; onOpen: (dialog: OpenDialog) => void }

/** Codes with which people create their own accounts, each for a role, a limited time and a number of people. */
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
            Registration is closed, so invitations do not work until it is open under Settings, Security.
          </Notice>
        </div>
      )}
      {invitations.data === undefined ? (
        <PanelWaiting query={invitations} rows={2} label="Loading invitations" />
      ) : invitations.data.length === 0 ? (
        <PanelEmpty title="No invitations yet">
          An invited person chooses their own username and password on the Create Account page.
        </PanelEmpty>
      ) : (
        <InvitationTable
          label="User invitations"
          invitations={invitations.data}
          nameOf={labelOf}
          extra={{ name: 'Role', width: '12%', render: ({ role }) => <RoleMark role={role} /> }}
          onRevoke={mayChange ? (invitation) => onOpen({ verb: 'revoke', invitation }) : undefined}
        />
      )}
    </Panel>
  )
}
