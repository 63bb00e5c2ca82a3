import { ensureWebBuilt } from './web-build.ts'

/**
 * `npm start`: the hub alone, set up by HUB_* variables, in this very process; so signals and the exit code are the
 * hub's own.
 */
await ensureWebBuilt()
await import('../apps/hub/src/main.ts')
