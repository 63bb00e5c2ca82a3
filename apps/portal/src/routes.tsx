/** The portal's addresses, which the build writes for the hub. Each screen is its own chunk. */
import { lazy, Suspense } from 'react'
import { Navigate, useLocation, useRouteError, type RouteObject } from 'react-router'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { RegisterPage } from './features/register/page.tsx'
import { RequireSession, ToPublicSite, type AskedPath } from './features/sign-in/gates.tsx'
import { SignInPage } from './features/sign-in/page.tsx'
import { PageFailure } from './features/shell/page-failure.tsx'
import { mayReload, reloadOnceAnswered } from './reload-when-updated.ts'

const MustSetUpTwoFactor = lazy(() => import('./features/profile/must-set-up.tsx'))
const Audit = lazy(() => import('./features/audit/audit.tsx'))
const helpScreen = async () => ({ Component: (await import('./features/help/page.tsx')).HelpScreen })

/** Opens the portal for a person who is signed in. */
const Enter = ({ to }: { to: string }) => <Navigate to={to} replace />

/** After a session has ended on a screen, whose address is then the one to return to. */
function SignInAgain() {
  const asked = useLocation().state as AskedPath | null
  return <SignInPage Enter={Enter} {...(asked !== null && { asked: asked.from })} />
}

const threats = () => import('./features/threats/page.tsx')

/** If it fails, opening the screen tries again. */
const loadThreatsAhead = () => void threats().catch(() => undefined)

export const routes: RouteObject[] = [
  {
    ErrorBoundary: () => <PageFailure error={useRouteError()} recover={mayReload() ? reloadOnceAnswered : undefined} />,
    HydrateFallback: CentredSpinner,
    children: [
      { path: '/', Component: ToPublicSite },
      { path: '/login', Component: SignInAgain },
      { path: '/register', Component: () => <RegisterPage Enter={Enter} /> },
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
              return { Component: () => <Layout tools={<CommandPalette />} loadThreats={loadThreatsAhead} /> }
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
