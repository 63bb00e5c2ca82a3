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
import { barScreens, screenAt } from '#parts/screens.ts'

export type HubBarProps = {
  tools: ReactNode
  /** Runs when somebody points at Threats or reaches it by keyboard. */
  loadThreats: () => void
}

/** The top bar: the hub's name, the screens with the current one marked, `tools`, and the account. */
export function HubBar({ tools, loadThreats }: HubBarProps) {
  const { role } = useUser()
  const within = screenAt(useLocation().pathname)?.bar
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
      {barScreens.map(({ path, title }) => (
        <NavLink
          key={path}
          to={path}
          data-within={within === path}
          {...(path === '/threats' && { onPointerEnter: loadThreats, onFocus: loadThreats })}
        >
          {title}
          {path === '/gateway-approvals' && waiting > 0 && <Badge count={waiting} what="waiting" />}
        </NavLink>
      ))}
    </TopBar>
  )
}
