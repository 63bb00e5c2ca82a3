import type { HubUser } from '@hedgerow/contract'
import { useUser } from '#api/session.tsx'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { Absent, ActionsCell, Cell, DataTable, Row, RowName, TwoLines, type Column } from '@hedgerow/ui/data-table.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import type { OpenDialog } from './dialogs.tsx'
import { isLastAdmin, nameOf } from './people.ts'
import { RoleMark } from './role-mark.tsx'
import { UserMenu } from './user-menu.tsx'
import styles from './page.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'User' },
  { name: 'Email', width: '24%' },
  { name: 'Role', width: '12%' },
  { name: 'Status', width: '14%' },
  { name: 'Last Login', width: '11%' },
  { name: 'Created', width: '11%' },
  { name: 'Actions', width: '84px' },
]

type UserTableProps = {
  all: readonly HubUser[]
  /** The users of `all` that match the search. */
  shown: readonly HubUser[]
  mayChange: boolean
  onOpen: (dialog: OpenDialog) => void
}

/** By username; the signed-in person's row is marked. */
export function UserTable({ all, shown, mayChange, onOpen }: UserTableProps) {
  const self = useUser()
  return (
    <DataTable label="Users" columns={COLUMNS} rowCount={shown.length} narrow="lines">
      {shown.map((user, index) => (
        <Row key={user.id} index={index} restOf={user.username}>
          <Cell label="User" place="title">
            <TwoLines
              first={
                <span className={styles.name}>
                  <strong>
                    <RowName>{nameOf(user)}</RowName>
                  </strong>
                  {user.id === self.id && <Chip tone="good">you</Chip>}
                </span>
              }
              second={`@${user.username}`}
            />
          </Cell>
          <Cell label="Email">{user.email === '' ? <Absent>none</Absent> : user.email}</Cell>
          <Cell label="Role" place="beside">
            <RoleMark role={user.role} />
          </Cell>
          <Cell label="Status" place="line">
            <StatusMark
              shape={user.active ? 'dot' : 'ring'}
              word={user.active ? 'Active' : 'Inactive'}
              reason={user.twoFactorEnabled ? 'Two-factor on' : ''}
            />
          </Cell>
          <Cell label="Last Login">
            <RelativeTime at={user.lastLogin} />
          </Cell>
          <Cell label="Created">
            <RelativeTime at={user.createdAt} />
          </Cell>
          <ActionsCell>
            <UserMenu
              user={user}
              mayChange={mayChange}
              isLastAdmin={isLastAdmin(all, user)}
              onVerb={(verb) => onOpen({ verb, user, isLastAdmin: isLastAdmin(all, user) })}
            />
          </ActionsCell>
        </Row>
      ))}
    </DataTable>
  )
}
