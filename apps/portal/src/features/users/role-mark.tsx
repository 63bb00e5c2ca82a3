import type { Role } from '@hedgerow/contract'
import type { ReactNode } from 'react'
import { PeopleIcon, PersonIcon, ShieldIcon } from '@hedgerow/ui/icons.tsx'
import styles from './role-mark.module.css'

const ICONS: Record<Role, ReactNode> = { user: <PersonIcon />, manager: <PeopleIcon />, admin: <ShieldIcon /> }

/** What each role means, for whoever gives it to somebody. */
export const ROLE_MEANINGS: Record<Role, string> = {
  user: 'Sees and opens the gateways that they claimed.',
  manager: 'Runs the whole fleet: adds, edits, approves and deletes gateways.',
  admin: 'Runs the fleet, the users and the hub’s settings.',
}

/** A role by its icon, its colour and its word. */
export function RoleMark({ role }: { role: Role }) {
  return (
    <span className={styles.role} data-role={role}>
      {ICONS[role]}
      {role}
    </span>
  )
}

export function RoleIcon({ role }: { role: Role }) {
  return (
    <span className={styles.role} data-role={role}>
      {ICONS[role]}
    </span>
  )
}
