import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../test/harness/child-process.ts'
import { freeTcpPort } from '../test/harness/free-ports.ts'
import { HUB_COMMAND } from '../test/harness/hub.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { createFleet } from './fleet.ts'
import { distributionOf, reportGoals, type Measured } from './report.ts'

const GATEWAYS = 10_000
const SCRAPES = 30
const GOAL_MS = 50

/** How long a scrape of `/metrics` takes with 10,000 gateways, with and without the series of each gateway. */
export async function benchMetrics(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-bench-metrics-'))
  const url = `sqlite:${join(dataDir, 'hub.sqlite')}`
  await createFleet(url, GATEWAYS)
  const rows: Record<string, Measured> = {}
  try {
    for (const gateways of ['on', 'off']) {
      const port = String(await freeTcpPort())
      const env = {
        HUB_HOST: '127.0.0.1',
        HUB_PORT: port,
        HUB_HTTPS_PORT: 'off',
        HUB_VPN_PORT: '0',
        HUB_DATA_DIR: dataDir,
        HUB_LOG_LEVEL: 'warn',
        HUB_METRICS_TOKEN: 'a-token-for-the-bench',
        HUB_METRICS_GATEWAYS: gateways,
      }
      const hub = await startChild(process.execPath, HUB_COMMAND, { env })
      const address = `http://127.0.0.1:${port}`
      await waitFor(async () => (await fetch(`${address}/readyz`)).ok, { for: 'the hub', timeoutMs: 60_000 })
      const times: number[] = []
      for (let scrape = 0; scrape < SCRAPES + 5; scrape++) {
        const startedAt = performance.now()
        const answer = await fetch(`${address}/metrics`, { headers: { authorization: 'Bearer a-token-for-the-bench' } })
        await answer.arrayBuffer()
        if (scrape >= 5) times.push(performance.now() - startedAt)
      }
      rows[`scrape, ms, gateways ${gateways}`] = { ...distributionOf(times), of: 'p50', goal: GOAL_MS }
      await hub.stop()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
  reportGoals('metrics', rows)
}
