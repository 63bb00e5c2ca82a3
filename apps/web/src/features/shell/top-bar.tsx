import { mayManageFleet } from '#api/roles.ts'
import { usePendingRegistrations } from '#api/pending-registrations.ts'
import { useUser } from '#api/session.tsx'
import { HedgeMark } from '#ui/wordmark.tsx'
import { NavLink } from 'react-router'
import { AccountMenu } from './account-menu.tsx'
import styles from './top-bar.module.css'

/** The top bar: the title, the screens with the current one marked, and the account. */
export function TopBar() {
  const { role } = useUser()
  const pending = usePendingRegistrations()
  const waiting = mayManageFleet(role) ? (pending.data?.length ?? 0) : 0
  return (
    <header className={styles.bar}>
      <span className={styles.title}>
        <HedgeMark />
        Hub
      </span>
      <nav className={styles.nav} aria-label="Main">
        <NavLink to="/dashboard">Dashboard</NavLink>
        <NavLink to="/gateways">Gateways</NavLink>
        <NavLink to="/gateway-approvals">
          Approvals
          {waiting > 0 && (
            <span className={styles.badge}>
              {waiting}
              <span className="visually-hidden"> waiting</span>
            </span>
          )}
        </NavLink>
      </nav>
      <AccountMenu />
    </header>
  )
}
