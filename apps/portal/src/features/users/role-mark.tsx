import type { Role } from '@hedgerow/contract'
import type { ReactNode } from 'react'
import { PeopleIcon, PersonIcon, ShieldIcon } from '@hedgerow/ui/icons.tsx'
import styles from './role-mark.module.css'

const ICONS: Record<Role, ReactNode> = { user: <PersonIcon />, manager: <PeopleIcon />, admin: <ShieldIcon /> }

/** The meaning of each role, for the person who assigns it. */
export const ROLE_MEANINGS: Record<Role, string> = {
  user: 'Sees and opens the gateways that they claimed.',
  manager: 'Runs the whole fleet: adds, edits, approves and deletes gateways.',
  admin: 'Runs the fleet, the users and the hub’s settings.',
}

/** A role as an icon, a colour and a word. */
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
