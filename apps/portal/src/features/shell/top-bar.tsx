import { useRef, type ReactNode } from 'react'
import { NavLink, useLocation } from 'react-router'
import { useHubSettings } from '#api/hub-settings.ts'
import { usePendingRegistrations } from '#api/pending-registrations.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { useHeightVariable } from '@hedgerow/ui/height-variable.ts'
import { HedgeMark } from '@hedgerow/ui/wordmark.tsx'
import { AccountMenu } from './account-menu.tsx'
import { ConnectionState } from './connection-state.tsx'
import styles from './top-bar.module.css'

/** Screens without a link in the bar, which are reached from the threats and from the approvals. */
const OF_THREATS: ReadonlySet<string> = new Set(['/cameras', '/alert-rules'])
const OF_APPROVALS: ReadonlySet<string> = new Set(['/gateway-invitations', '/auto-approval-settings'])

/** The top bar: the hub's name, the screens with the current one marked, `tools`, and the account. */
export function TopBar({ tools }: { tools: ReactNode }) {
  const { role } = useUser()
  const { pathname } = useLocation()
  const pending = usePendingRegistrations()
  const hubName = useHubSettings().data?.hubName ?? ''
  const waiting = mayManageFleet(role) ? (pending.data?.length ?? 0) : 0
  const bar = useRef<HTMLElement>(null)
  useHeightVariable(bar, '--bar-height', wholePage)
  return (
    <header ref={bar} className={styles.bar}>
      <div className={styles.title}>
        <HedgeMark />
        <span>Hub</span>
        {hubName !== '' && (
          <span className={styles.name} title={hubName}>
            {hubName}
          </span>
        )}
        <ConnectionState />
      </div>
      <nav className={styles.nav} aria-label="Main">
        <NavLink to="/dashboard">Dashboard</NavLink>
        <NavLink to="/threats" data-within={OF_THREATS.has(pathname)}>
          Threats
        </NavLink>
        <NavLink to="/gateways">Gateways</NavLink>
        <NavLink to="/gateway-approvals" data-within={OF_APPROVALS.has(pathname)}>
          Approvals
          {waiting > 0 && (
            <span className={styles.badge}>
              {waiting}
              <span className="visually-hidden"> waiting</span>
            </span>
          )}
        </NavLink>
        <NavLink to="/users">Users</NavLink>
        <NavLink to="/settings">Settings</NavLink>
      </nav>
      <div className={styles.tools}>
        {tools}
        <AccountMenu />
      </div>
    </header>
  )
}

const wholePage = () => document.documentElement
