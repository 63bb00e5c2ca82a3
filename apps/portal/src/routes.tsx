/** The portal's addresses, which the build writes for the hub. Each screen is its own chunk. */
import { lazy, Suspense, type ComponentType } from 'react'
import { Navigate, useLocation, useRouteError, type RouteObject } from 'react-router'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { RegisterPage } from './features/register/page.tsx'
import { RequireSession, ToPublicSite, type RequestedPath } from './features/sign-in/gates.tsx'
import { SignInPage } from './features/sign-in/page.tsx'
import { PageFailure } from './features/shell/page-failure.tsx'
import { mayReload, reloadOnceAnswered } from './reload-when-updated.ts'
import { screens, type ScreenPath } from '#parts/screens.ts'

const MustSetUpTwoFactor = lazy(() => import('./features/profile/must-set-up.tsx'))
const Audit = lazy(() => import('./features/audit/audit.tsx'))

/** Opens the portal for a person who is signed in. */
const Enter = ({ to }: { to: string }) => <Navigate to={to} replace />

/** After a session has ended on a screen, whose address is then the one to return to. */
function SignInAgain() {
  const requested = useLocation().state as RequestedPath | null
  return <SignInPage Enter={Enter} {...(requested !== null && { requestedPath: requested.from })} />
}

const threats = () => import('./features/threats/page.tsx')

/** If it fails, opening the screen tries again. */
const loadThreatsAhead = () => void threats().catch(() => undefined)

async function settings() {
  const { SettingsPage } = await import('./features/settings/page.tsx')
  return () => (
    <SettingsPage
      audit={
        <Suspense>
          <Audit />
        </Suspense>
      }
    />
  )
}

const help = async () => (await import('./features/help/page.tsx')).HelpScreen

const load: Readonly<Record<ScreenPath, () => Promise<ComponentType>>> = {
  '/dashboard': async () => (await import('./features/dashboard/page.tsx')).DashboardPage,
  '/threats': async () => (await threats()).ThreatsPage,
  '/cameras': async () => (await import('./features/cameras/page.tsx')).CamerasPage,
  '/alert-rules': async () => (await import('./features/alerts/page.tsx')).AlertsPage,
  '/gateways': async () => (await import('./features/gateways/list/page.tsx')).GatewaysPage,
  '/add-gateway': async () => (await import('./features/gateways/add/page.tsx')).AddGatewayPage,
  '/gateway-labels': async () => (await import('./features/gateways/add/labels-page.tsx')).GatewayLabelsPage,
  '/gateways/:id': async () => (await import('./features/gateways/detail/gateway-page.tsx')).GatewayPage,
  '/sites': async () => (await import('./features/sites/page.tsx')).SitesPage,
  '/versions': async () => (await import('./features/versions/page.tsx')).VersionsPage,
  '/gateway-approvals': async () => (await import('./features/approvals/page.tsx')).RegistrationsPage,
  '/gateway-invitations': async () => (await import('./features/gateway-invitations/page.tsx')).GatewayInvitationsPage,
  '/auto-approval-settings': async () => (await import('./features/auto-approval/page.tsx')).AutoApprovalPage,
  '/users': async () => (await import('./features/users/page.tsx')).UsersPage,
  '/settings': settings,
  '/profile': async () => (await import('./features/profile/page.tsx')).ProfilePage,
  '/help': help,
  '/help/:page': help,
  '/proxy/gateway/:id': async () => (await import('./features/gateway-ui/page.tsx')).HandoverPage,
}

export const routes: RouteObject[] = [
  {
    ErrorBoundary: () => <PageFailure error={useRouteError()} recover={mayReload() ? reloadOnceAnswered : undefined} />,
    HydrateFallback: CentredSpinner,
    children: [
      { path: '/', Component: ToPublicSite },
      { path: '/login', Component: SignInAgain },
      {
        path: '/login/:provider',
        lazy: async () => ({ Component: (await import('./features/sign-in/provider-page.tsx')).ProviderPage }),
      },
      { path: '/register', Component: () => <RegisterPage Enter={Enter} /> },
      {
        path: '/acknowledge',
        lazy: async () => ({ Component: (await import('./features/acknowledge/page.tsx')).AcknowledgePage }),
      },
      {
        path: '/forgot-password',
        lazy: async () => ({ Component: (await import('./features/password-reset/page.tsx')).ForgotPasswordPage }),
      },
      {
        path: '/reset-password',
        lazy: async () => ({ Component: (await import('./features/password-reset/page.tsx')).ResetPasswordPage }),
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
                children: screens.map(({ path }) => ({ path, lazy: async () => ({ Component: await load[path]() }) })),
              },
            ],
          },
        ],
      },
      { path: '*', lazy: async () => ({ Component: (await import('./features/shell/not-found.tsx')).NotFound }) },
    ],
  },
]
