import { benchAgent } from './agent.ts'
import { benchApi } from './api.ts'
import { benchApprove } from './approve.ts'
import { benchFleetLoad } from './fleet-load.ts'
import { benchEye } from './eye.ts'
import { benchLearning } from './learning.ts'
import { benchProxy } from './proxy.ts'
import { benchTunnel } from './tunnel.ts'
import { benchWeb } from './web.ts'

/** `npm run bench NAME`: each bench prints a table for people and one JSON line for machines. */
const benches: Record<string, (arguments_: string[]) => Promise<void>> = {
  agent: benchAgent,
  api: benchApi,
  approve: benchApprove,
  eye: benchEye,
  fleet: benchFleetLoad,
  learning: benchLearning,
  proxy: benchProxy,
  tunnel: benchTunnel,
  web: benchWeb,
}

const [name = '', ...rest] = process.argv.slice(2)
const bench = benches[name]
if (bench) {
  await bench(rest)
} else {
  console.error(`Name a bench: npm run bench ${Object.keys(benches).join(' | ')}`)
  process.exitCode = 1
}
