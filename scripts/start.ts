import { ensureWebBuilt } from './web-build.ts'

/**
 * `npm start`: only the hub, configured by HUB_* variables, in this process, so that signals and the exit code are the
 * hub's own.
 */
await ensureWebBuilt()
await import('../apps/hub/src/main.ts')
