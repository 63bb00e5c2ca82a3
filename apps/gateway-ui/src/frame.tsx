import { Navigate, NavLink, useLocation } from 'react-router'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { PanelError } from '@hedgerow/ui/panel-states.tsx'
import { ScreenFrame } from '@hedgerow/ui/screen-frame.tsx'
import { TopBar } from '@hedgerow/ui/top-bar.tsx'
import { Arming } from './arming.tsx'
import { messageOf } from './calls.ts'
import { useSession, useStatus } from './queries.ts'
import { SessionContext } from './session.ts'
import { VisitorMenu } from './visitor-menu.tsx'

/** The frame of every screen after signing in; stopping everything is in its bar. */
export function Frame() {
  const session = useSession()
  const { pathname } = useLocation()
  const name = useStatus(session.isSuccess && session.data !== null).data?.name
  if (session.isPending) return <CentredSpinner title="Gateway" />
  if (session.isError)
    return (
      <PanelError
        message={messageOf(session.error)}
        retrying={session.isFetching}
        onRetry={() => void session.refetch()}
      />
    )
  if (session.data === null) return <Navigate to="/sign-in" state={{ from: pathname }} replace />
  return (
    <SessionContext value={session.data}>
      <ScreenFrame
        bar={
          <TopBar
            title="Gateway"
            {...(name !== undefined && { name })}
            tools={
              <>
                <Arming />
                <VisitorMenu />
              </>
            }
          >
            <NavLink to="/" end>
              Now
            </NavLink>
            <NavLink to="/detections">Detections</NavLink>
            <NavLink to="/deterrents">Deterrents</NavLink>
            <NavLink to="/rules">Rules</NavLink>
            <NavLink to="/learning">Learning</NavLink>
            <NavLink to="/configuration">Configuration</NavLink>
          </TopBar>
        }
      />
    </SessionContext>
  )
}
