import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startGateway as startAgent, type Gateway, type GatewayOptions } from '../../apps/gateway/src/gateway.ts'

/** The real agent in this process, with keys and a device page of its own. */
export type TestGateway = Gateway & {
  readonly name: string
  /** Its device page, as a browser on the device opens it. */
  readonly pageUrl: string
}

export type TestGatewayOptions = { name: string } & Partial<Omit<GatewayOptions, 'name' | 'dataDir'>>

/**
 * Starts an agent that knows the hub's address. It asks again soon after a failure, since a test won't wait for long.
 */
export async function startGateway(hub: { url: string }, options: TestGatewayOptions): Promise<TestGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-gateway-'))
  const agent = await startAgent({
    location: '',
    hubUrl: new URL(hub.url),
    host: '127.0.0.1',
    port: 0,
    searchDomains: [],
    log: pino({ level: 'silent' }),
    pace: { retryFirstMs: 200, retryMaxMs: 1_000 },
    ...options,
    dataDir,
  })
  return {
    ...agent,
    name: options.name,
    pageUrl: `http://127.0.0.1:${agent.port}/`,
    async stop() {
      await agent.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
