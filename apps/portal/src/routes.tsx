/**
 * The portal's addresses, which the build writes for the hub. Each screen is its own chunk; the sign-in page loads none
 * of the others.
 */
import { lazy, Suspense, useLayoutEffect, type ReactNode } from 'react'
import { Outlet, type RouteObject } from 'react-router'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { RequireSession, ToPublicSite } from './features/sign-in/gates.tsx'
import { RouteError } from './features/shell/route-error.tsx'
import { mayReload, reloadOnceAnswered } from './reload-when-updated.ts'

const IDLE_AFTER_MS = 2_000

const MustSetUpTwoFactor = lazy(() => import('./features/profile/must-set-up.tsx'))
const Audit = lazy(() => import('./features/audit/audit.tsx'))
const helpScreen = async () => ({ Component: (await import('./features/help/page.tsx')).HelpScreen })

/** Removes the first view that the page showed while its script loaded (first-paint.tsx). */
function AfterFirstPaint({ children }: { children: ReactNode }) {
  useLayoutEffect(() => document.querySelector('#first-paint')?.remove(), [])
  return children
}

const threats = () => import('./features/threats/page.tsx')

/** Loads screens that people often open next. If it fails, opening the screen tries again. */
function loadWhenIdle(load: () => Promise<unknown>): void {
  const start = () => void load().catch(() => undefined)
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in window) requestIdleCallback(start)
  else setTimeout(start, IDLE_AFTER_MS)
}

export const routes: RouteObject[] = [
  {
    Component: () => (
      <AfterFirstPaint>
        <Outlet />
      </AfterFirstPaint>
    ),
    ErrorBoundary: () => (
      <AfterFirstPaint>
        <RouteError recover={mayReload() ? reloadOnceAnswered : undefined} />
      </AfterFirstPaint>
    ),
    HydrateFallback: CentredSpinner,
    children: [
      { path: '/', Component: ToPublicSite },
      { path: '/login', lazy: async () => ({ Component: (await import('./features/sign-in/page.tsx')).SignInPage }) },
      {
        path: '/register',
        lazy: async () => ({ Component: (await import('./features/register/page.tsx')).RegisterPage }),
      },
      {
        path: '/acknowledge',
        lazy: async () => ({ Component: (await import('./features/acknowledge/page.tsx')).AcknowledgePage }),
      },
      {
        Component: () => (
          <RequireSession
            setUp={
              <Suspense fallback={<CentredSpinner />}>
                <MustSetUpTwoFactor />
              </Suspense>
            }
          />
        ),
        children: [
          {
            lazy: async () => {
              const [{ Layout }, { CommandPalette }] = await Promise.all([
                import('./features/shell/layout.tsx'),
                import('./features/command-palette/command-palette.tsx'),
              ])
              loadWhenIdle(threats)
              return { Component: () => <Layout tools={<CommandPalette />} /> }
            },
            children: [
              {
                lazy: async () => {
                  const { ScreenError } = await import('./features/shell/screen-error.tsx')
                  return {
                    ErrorBoundary: () => <ScreenError recover={mayReload() ? reloadOnceAnswered : undefined} />,
                  }
                },
                children: [
                  {
                    path: '/dashboard',
                    lazy: async () => ({ Component: (await import('./features/dashboard/page.tsx')).DashboardPage }),
                  },
                  {
                    path: '/threats',
                    lazy: async () => ({ Component: (await threats()).ThreatsPage }),
                  },
                  {
                    path: '/cameras',
                    lazy: async () => ({ Component: (await import('./features/cameras/page.tsx')).CamerasPage }),
                  },
                  {
                    path: '/alert-rules',
                    lazy: async () => ({ Component: (await import('./features/alerts/page.tsx')).AlertsPage }),
                  },
                  {
                    path: '/gateways',
                    lazy: async () => ({ Component: (await import('./features/gateways/list/page.tsx')).GatewaysPage }),
                  },
                  {
                    path: '/gateways/:id',
                    lazy: async () => ({
                      Component: (await import('./features/gateways/detail/gateway-page.tsx')).GatewayPage,
                    }),
                  },
                  {
                    path: '/versions',
                    lazy: async () => ({ Component: (await import('./features/versions/page.tsx')).VersionsPage }),
                  },
                  {
                    path: '/gateway-approvals',
                    lazy: async () => ({
                      Component: (await import('./features/approvals/page.tsx')).RegistrationsPage,
                    }),
                  },
                  {
                    path: '/gateway-invitations',
                    lazy: async () => ({
                      Component: (await import('./features/gateway-invitations/page.tsx')).GatewayInvitationsPage,
                    }),
                  },
                  {
                    path: '/auto-approval-settings',
                    lazy: async () => ({
                      Component: (await import('./features/auto-approval/page.tsx')).AutoApprovalPage,
                    }),
                  },
                  {
                    path: '/users',
                    lazy: async () => ({ Component: (await import('./features/users/page.tsx')).UsersPage }),
                  },
                  {
                    path: '/settings',
                    lazy: async () => {
                      const { SettingsPage } = await import('./features/settings/page.tsx')
                      return {
                        Component: () => (
                          <SettingsPage
                            audit={
                              <Suspense>
                                <Audit />
                              </Suspense>
                            }
                          />
                        ),
                      }
                    },
                  },
                  {
                    path: '/profile',
                    lazy: async () => ({ Component: (await import('./features/profile/page.tsx')).ProfilePage }),
                  },
                  { path: '/help', lazy: helpScreen },
                  { path: '/help/:page', lazy: helpScreen },
                  {
                    path: '/proxy/gateway/:id',
                    lazy: async () => ({ Component: (await import('./features/gateway-ui/page.tsx')).HandoverPage }),
                  },
                ],
              },
            ],
          },
        ],
      },
      { path: '*', lazy: async () => ({ Component: (await import('./features/shell/not-found.tsx')).NotFound }) },
    ],
  },
]
