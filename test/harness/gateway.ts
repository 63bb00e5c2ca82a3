import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { pino } from 'pino'
import { Document, isScalar, visit } from 'yaml'
import type { DeviceReport } from '@hedgerow/contract/local-api'
import { startGateway as startAgent, type Gateway, type GatewayOptions } from '../../apps/gateway/src/gateway.ts'

/** The real agent in this process, with its own keys and device page. */
export type TestGateway = Gateway & {
  readonly name: string
  /** Its device page, as a browser on the device opens it. */
  readonly pageUrl: string
  /** The local API for programs on the device. Rejects with the answer's text. */
  readonly localApi: {
    reportDetections(detections: readonly Detection[]): Promise<void>
    patchStatus(status: DeviceReport): Promise<void>
  }
}

export type TestGatewayOptions = {
  name: string
  file?: object
  /** Writes what the agent finds in its data directory. */
  before?: (dataDir: string) => unknown
} & Partial<Omit<GatewayOptions, 'name' | 'dataDir'>>

/** As people write it: by parts, and short lists on one line. */
function textOf(file: object): string {
  const document = new Document(file, { aliasDuplicateObjects: false })
  visit(document, { Seq: (_key, list) => void (list.flow = list.items.every(isScalar)) })
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

/**
 * Starts an agent that knows the hub's address; `file` adds to gateway.yaml. It retries soon after a failure, so that
 * tests are fast.
 */
export async function startGateway(hub: { url: string }, options: TestGatewayOptions): Promise<TestGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-gateway-'))
  const file = { sources: { api: { loopbackNeedsToken: false } }, ...options.file }
  await writeFile(join(dataDir, 'gateway.yaml'), textOf(file))
  await options.before?.(dataDir)
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
  async function send(method: string, path: string, body: unknown): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${agent.port}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
  }
  let stopped: Promise<void> | undefined
  return {
    ...agent,
    localApi: {
      reportDetections: (detections) => send('POST', '/detections', { detections }),
      patchStatus: (status) => send('PATCH', '/status', status),
    },
    name: options.name,
    pageUrl: `http://127.0.0.1:${agent.port}/`,
    stop: () => (stopped ??= end()),
  }
  async function end(): Promise<void> {
    await agent.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
