import type { HubUser } from '@hedgerow/contract'
import { ActionIcon, Menu } from '@mantine/core'
import { ADMIN_NEEDED } from '#api/roles.ts'
import { MoreIcon } from '@hedgerow/ui/icons.tsx'
import type { UserVerb } from './dialogs.tsx'
import styles from './page.module.css'

type UserMenuProps = {
  user: HubUser
  mayChange: boolean
  isLastAdmin: boolean
  onVerb: (verb: UserVerb) => void
}

/** The actions of a user. Actions that are not allowed stay visible, with the reason. */
export function UserMenu({ user, mayChange, isLastAdmin, onVerb }: UserMenuProps) {
  const item = (verb: UserVerb, words: string, allowed: boolean) =>
    allowed ? (
      <Menu.Item className={verb === 'delete' ? (styles.danger ?? '') : ''} onClick={() => onVerb(verb)}>
        {words}
      </Menu.Item>
    ) : (
      <Menu.Item aria-disabled="true" data-disabled closeMenuOnClick={false}>
        {words}
      </Menu.Item>
    )
  return (
    <Menu
      position="bottom-end"
      width={220}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 100 }}
    >
      <Menu.Target>
        <ActionIcon variant="subtle" size={28} aria-label={`More actions for ${user.username}`}>
          <MoreIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {item('edit', 'Edit User', mayChange)}
        {user.twoFactorEnabled && item('reset-two-factor', 'Reset Two-Factor', mayChange)}
        {item('activate', user.active ? 'Deactivate User' : 'Activate User', mayChange && !isLastAdmin)}
        {item('delete', 'Delete User', mayChange && !isLastAdmin)}
        {!mayChange ? (
          <p className={styles.reason}>{ADMIN_NEEDED}</p>
        ) : (
          isLastAdmin && <p className={styles.reason}>The hub needs an active admin, and this is the last one.</p>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
