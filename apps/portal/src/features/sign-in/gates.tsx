import { useEffect, type ReactNode } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router'
import { useSession } from '#api/session.tsx'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'

/** What the sign-in page is told, so that a deep link survives signing in. */
export type AskedPath = { from: string }

/**
 * Everything behind it needs a session; a visitor is asked to sign in and comes back to the same address. Whoever has
 * to set up two-factor first gets `setUp` in the place of every screen, at the address that they asked for.
 */
export function RequireSession({ setUp }: { setUp: ReactNode }) {
  const { state } = useSession()
  const { pathname, search, hash } = useLocation()
  if (state.status === 'loading') return <CentredSpinner />
  if (state.status === 'signed-in') return state.user.mustSetUpTwoFactor ? setUp : <Outlet />
  if (state.leftFreely) return <Navigate to="/" replace />
  return <Navigate to="/login" replace state={{ from: `${pathname}${search}${hash}` } satisfies AskedPath} />
}

/** The root address: the public site is made of pages of its own, so the hub is asked for it. */
export function ToPublicSite() {
  useEffect(() => location.replace('/'), [])
  return <CentredSpinner />
}
