/** People who sign in at another server, by OpenID Connect. */
import type { Refusals } from '../access/refusals.ts'
import type { Sessions } from '../access/sessions.ts'
import type { OpenSession } from '../accounts/open-session.ts'
import { createThrottle } from '../accounts/throttle.ts'
import type { App, Ground } from '../facts/room.ts'
import { createOidc } from './oidc.ts'
import { createProvider } from './provider.ts'
import { oidcRoutes } from './routes.ts'

const FREE_FAILURES = 30
const MAX_WAIT_MS = 15 * 60_000

export function open(hub: Ground & { sessions: Sessions; openSession: OpenSession; refusals: Refusals }) {
  const { config, clock, log } = hub
  const { publicUrl = '' } = config
  const providers = config.providers.map((settings) => createProvider({ settings, publicUrl, clock, log }))
  const failures = createThrottle({ free: FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })
  return {
    routes: (app: App) => oidcRoutes(app, { ...hub, oidc: createOidc({ ...hub, providers }), failures }),
  }
}
