import { useEffect, type ReactNode } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router'
import { useSession } from '#api/session.tsx'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'

/** The address to open after signing in. */
export type RequestedPath = { from: string }

/**
 * Requires a session: a visitor signs in and then returns to the same address. A person who must set up two-factor
 * first sees `setUp` instead of any screen.
 */
export function RequireSession({ setUp }: { setUp: ReactNode }) {
  const { state } = useSession()
  const { pathname, search, hash } = useLocation()
  if (state.status === 'loading') return <CentredSpinner />
  if (state.status === 'signed-in') return state.user.mustSetUpTwoFactor ? setUp : <Outlet />
  if (state.signedOut) return <Navigate to="/" replace />
  return <Navigate to="/login" replace state={{ from: `${pathname}${search}${hash}` } satisfies RequestedPath} />
}

/** The root address belongs to the public site, so it is loaded from the hub. */
export function ToPublicSite() {
  useEffect(() => location.replace('/'), [])
  return <CentredSpinner />
}
