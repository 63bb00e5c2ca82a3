/**
 * User Management: the people who may sign in, and the invitations with which people create their own accounts.
 * Managers see both, administrators change them; the hub enforces the same.
 */
import { TextInput } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useSearchParams } from 'react-router'
import { isForbidden, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { ADMIN_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { useUsers } from '#api/users.ts'
import { useAskedAction } from '#parts/asked-action.ts'
import { PlusIcon, SearchIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import type { OpenDialog } from './dialogs.tsx'
import { Invitations } from './invitations.tsx'
import { findUsers } from './people.ts'
import { UserTable } from './table.tsx'
import styles from './page.module.css'

const Dialogs = lazy(() => import('./dialogs.tsx'))

export function UsersPage() {
  const { role } = useUser()
  const mayChange = role === 'admin'
  const users = useUsers(mayManageFleet(role))
  const [parameters] = useSearchParams()
  const [search, setSearch] = useState(parameters.get('q') ?? '')
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  useDraft('users', dialog ?? undefined, setDialog)
  useAskedAction(['add', 'invite'], (verb) => mayChange && setDialog({ verb }))
  const forbidden = !mayManageFleet(role) || isForbidden(users.error)
  const found = findUsers(users.data ?? [], search)
  return (
    <>
      <PageHead
        title="User Management"
        tab="Users"
        lead="Who may sign in to this hub, and what they may do."
        actions={
          <ReasonedButton
            leftSection={<PlusIcon />}
            reason={mayChange ? undefined : ADMIN_NEEDED}
            onClick={() => setDialog({ verb: 'add' })}
          >
            Add User
          </ReasonedButton>
        }
      />
      {users.isError && users.data !== undefined && !forbidden && (
        <Notice tone="warning">The list could not be refreshed and may be outdated: {messageOf(users.error)}</Notice>
      )}
      <Panel
        title="Users"
        actions={
          !forbidden &&
          users.data !== undefined && (
            <div className={styles.find}>
              <output className={styles.count}>
                {search.trim() === '' ? '' : `${found.length} of ${users.data.length}`}
              </output>
              <TextInput
                type="search"
                size="sm"
                aria-label="Search users"
                placeholder="Search users"
                leftSection={<SearchIcon />}
                value={search}
                onChange={(event) => setSearch(event.currentTarget.value)}
              />
            </div>
          )
        }
      >
        {forbidden ? (
          <PanelForbidden>Managers and administrators see the users; administrators change them.</PanelForbidden>
        ) : users.data === undefined ? (
          <PanelWaiting query={users} rows={5} label="Loading users" />
        ) : found.length === 0 ? (
          <PanelEmpty title="No user matches">No user has “{search.trim()}” in their name, email or role.</PanelEmpty>
        ) : (
          <UserTable all={users.data} shown={found} mayChange={mayChange} onOpen={setDialog} />
        )}
      </Panel>
      {!forbidden && <Invitations mayChange={mayChange} onOpen={setDialog} />}
      <Suspense>{dialog !== null && <Dialogs dialog={dialog} onGone={() => setDialog(null)} />}</Suspense>
    </>
  )
}
