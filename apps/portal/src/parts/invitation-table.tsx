import type { GatewayInvitation, UserInvitation } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { ActionsCell, Cell, DataTable, Row, RowName, type Column } from '@hedgerow/ui/data-table.tsx'
import { RelativeTime, TimeLeft } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark, type MarkShape } from '@hedgerow/ui/status-mark.tsx'

const STATUS: Record<UserInvitation['status'], { shape: MarkShape; word: string }> = {
  active: { shape: 'dot', word: 'Active' },
  used_up: { shape: 'neutral', word: 'Used up' },
  expired: { shape: 'neutral', word: 'Expired' },
  revoked: { shape: 'ring', word: 'Revoked' },
}

type InvitationTableProps<Invitation> = {
  label: string
  invitations: readonly Invitation[]
  nameOf: (invitation: Invitation) => string
  /** A column that only this kind of invitation has, after the label. */
  extra?: { name: string; width: string; render: (invitation: Invitation) => ReactNode }
  /** Undefined if the role may not revoke. */
  onRevoke: ((invitation: Invitation) => void) | undefined
}

/** The invitations of gateways or of users, newest first. */
export function InvitationTable<Invitation extends GatewayInvitation | UserInvitation>({
  label,
  invitations,
  nameOf,
  extra,
  onRevoke,
}: InvitationTableProps<Invitation>) {
  const columns: readonly Column[] = [
    { name: 'Label' },
    ...(extra === undefined ? [] : [{ name: extra.name, width: extra.width }]),
    { name: 'Status', width: '13%' },
    { name: 'Used', width: '10%', numeric: true },
    { name: 'Expires', width: '17%' },
    { name: 'Created', width: '11%' },
    { name: 'Created By', width: '13%' },
    { name: 'Actions', width: '110px' },
  ]
  return (
    <DataTable label={label} columns={columns} rowCount={invitations.length} narrow="lines">
      {invitations.map((invitation, index) => (
        <Row key={invitation.id} index={index} restOf={nameOf(invitation)}>
          <Cell label="Label" place="title">
            <strong>
              <RowName>{nameOf(invitation)}</RowName>
            </strong>
          </Cell>
          {extra !== undefined && <Cell label={extra.name}>{extra.render(invitation)}</Cell>}
          <Cell label="Status" place="line">
            <StatusMark {...STATUS[invitation.status]} />
          </Cell>
          <Cell label="Used" numeric>
            {invitation.uses.toLocaleString()} of {invitation.maxUses.toLocaleString()}
          </Cell>
          <Cell label="Expires" place="beside">
            <TimeLeft until={invitation.expiresAt} />
          </Cell>
          <Cell label="Created">
            <RelativeTime at={invitation.createdAt} />
          </Cell>
          <Cell label="Created By">{invitation.createdBy}</Cell>
          <ActionsCell>
            {invitation.status === 'active' && onRevoke !== undefined && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Revoke ${nameOf(invitation)}`}
                onClick={() => onRevoke(invitation)}
              >
                Revoke
              </Button>
            )}
          </ActionsCell>
        </Row>
      ))}
    </DataTable>
  )
}
