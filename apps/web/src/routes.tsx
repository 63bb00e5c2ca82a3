/** The portal's addresses. Each screen is a chunk of its own; the sign-in page carries none of the others. */
import { createBrowserRouter } from 'react-router'
import { CentredSpinner } from '#ui/centred-spinner.tsx'
import { Home, RequireSession } from './features/sign-in/gates.tsx'
import { RouteError } from './features/shell/route-error.tsx'

export const router = createBrowserRouter([
  {
    ErrorBoundary: RouteError,
    HydrateFallback: CentredSpinner,
    children: [
      { path: '/', Component: Home },
      { path: '/login', lazy: async () => ({ Component: (await import('./features/sign-in/page.tsx')).SignInPage }) },
      {
        Component: RequireSession,
        children: [
          {
            lazy: async () => {
              const [{ Layout }, { CommandPalette }] = await Promise.all([
                import('./features/shell/layout.tsx'),
                import('./features/command-palette/command-palette.tsx'),
              ])
              return { Component: () => <Layout tools={<CommandPalette />} /> }
            },
            children: [
              {
                path: '/dashboard',
                lazy: async () => ({ Component: (await import('./features/dashboard/page.tsx')).DashboardPage }),
              },
              {
                path: '/gateways',
                lazy: async () => ({ Component: (await import('./features/gateways/page.tsx')).GatewaysPage }),
              },
              {
                path: '/gateways/:id',
                lazy: async () => ({ Component: (await import('./features/gateways/gateway-page.tsx')).GatewayPage }),
              },
              {
                path: '/gateway-approvals',
                lazy: async () => ({
                  Component: (await import('./features/registrations/page.tsx')).RegistrationsPage,
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
                path: '/proxy/gateway/:id',
                lazy: async () => ({ Component: (await import('./features/gateway-ui/page.tsx')).HandoverPage }),
              },
            ],
          },
        ],
      },
      { path: '*', lazy: async () => ({ Component: (await import('./features/shell/not-found.tsx')).NotFound }) },
    ],
  },
])
