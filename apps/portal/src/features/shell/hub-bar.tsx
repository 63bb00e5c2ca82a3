import type { ReactNode } from 'react'
import { NavLink, useLocation } from 'react-router'
import { useHubSettings } from '#api/hub-settings.ts'
import { usePendingRegistrations } from '#api/pending-registrations.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { Badge, TopBar } from '@hedgerow/ui/top-bar.tsx'
import { AccountMenu } from './account-menu.tsx'
import { ConnectionState } from './connection-state.tsx'
import { Notices } from './notices.tsx'

/** Screens without a link of their own in the bar, by the screen that leads to them. */
const OF_THREATS: ReadonlySet<string> = new Set(['/cameras', '/alert-rules'])
const OF_APPROVALS: ReadonlySet<string> = new Set(['/gateway-invitations', '/auto-approval-settings'])

export type HubBarProps = {
  tools: ReactNode
  /** Runs when somebody points at Threats or reaches it by keyboard. */
  loadThreats: () => void
}

/** The top bar: the hub's name, the screens with the current one marked, `tools`, and the account. */
export function HubBar({ tools, loadThreats }: HubBarProps) {
  const { role } = useUser()
  const { pathname } = useLocation()
  const pending = usePendingRegistrations()
  const hubName = useHubSettings().data?.hubName ?? ''
  const waiting = mayManageFleet(role) ? (pending.data?.length ?? 0) : 0
  return (
    <TopBar
      title="Hub"
      name={hubName}
      state={<ConnectionState />}
      tools={
        <>
          {tools}
          <Notices />
          <AccountMenu />
        </>
      }
    >
      <NavLink to="/dashboard">Dashboard</NavLink>
      <NavLink to="/threats" data-within={OF_THREATS.has(pathname)} onPointerEnter={loadThreats} onFocus={loadThreats}>
        Threats
      </NavLink>
      <NavLink to="/gateways">Gateways</NavLink>
      <NavLink to="/gateway-approvals" data-within={OF_APPROVALS.has(pathname)}>
        Approvals
        {waiting > 0 && <Badge count={waiting} what="waiting" />}
      </NavLink>
      <NavLink to="/users">Users</NavLink>
      <NavLink to="/settings">Settings</NavLink>
    </TopBar>
  )
}
