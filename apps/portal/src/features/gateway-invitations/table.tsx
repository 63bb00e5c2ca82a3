import type { GatewayInvitation } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { ActionsCell, Cell, DataTable, Row, type Column } from '@hedgerow/ui/data-table.tsx'
import { RelativeTime, TimeLeft } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark, type MarkShape } from '@hedgerow/ui/status-mark.tsx'

const COLUMNS: readonly Column[] = [
  { name: 'Label' },
  { name: 'Status', width: '13%' },
  { name: 'Used', width: '10%', numeric: true },
  { name: 'Expires', width: '19%' },
  { name: 'Created', width: '12%' },
  { name: 'Created By', width: '14%' },
  { name: 'Actions', width: '110px' },
]

const STATUS: Record<GatewayInvitation['status'], { shape: MarkShape; word: string }> = {
  active: { shape: 'dot', word: 'Active' },
  used_up: { shape: 'neutral', word: 'Used up' },
  expired: { shape: 'neutral', word: 'Expired' },
  revoked: { shape: 'ring', word: 'Revoked' },
}

type InvitationTableProps = {
  invitations: readonly GatewayInvitation[]
  onRevoke: (invitation: GatewayInvitation) => void
}

/** Newest first. */
export function InvitationTable({ invitations, onRevoke }: InvitationTableProps) {
  return (
    <DataTable label="Gateway invitations" columns={COLUMNS} rowCount={invitations.length}>
      {invitations.map((invitation, index) => (
        <Row key={invitation.id} index={index}>
          <Cell label="Label" place="title">
            <strong>{invitation.label}</strong>
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
            {invitation.status === 'active' && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Revoke ${invitation.label}`}
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
