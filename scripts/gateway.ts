import { namesCommand } from '../apps/gateway/src/cli/command-line.ts'
import { ensureGatewayUiBuilt } from './web-build.ts'

/**
 * `npm run gateway`: the agent or one of its commands, in this process. The agent works without its own pages, so a
 * machine that cannot build them still runs it.
 */
const args = process.argv.slice(2)
if (!namesCommand(args) && !args.includes('--help'))
  await ensureGatewayUiBuilt().catch((error: unknown) =>
    console.error(error instanceof Error ? error.message : error, '\nThe gateway runs without its own pages.'),
  )
await import('../apps/gateway/src/main.ts')
