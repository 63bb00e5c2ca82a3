/** A real Prometheus reads a real hub: the queries of the dashboard and of the alerts find their metrics. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { admit } from '../harness/approval.ts'
import { startChild, type Child } from '../harness/child-process.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
/** Nothing is refused here, and no detection waits for long. */
const WITHOUT_RESULT = [
  /^sum by \((?:limit|reason)\) \(rate\(hedgerow_\w*refused_total/,
  /^topk\(10, hedgerow_gateway_q/,
]

type Dashboard = { panels: { title: string; targets: { expr: string }[] }[] }
type Answer = { status: string; error?: string; data: { result: { metric: Record<string, string> }[] } }
type Rule = { name: string; query: string; health: string; state: string }

describe.skipIf(skipWithout('Prometheus', 'command prometheus'))('Prometheus', () => {
  let hub: Hub
  let gateway: TestGateway
  let prometheus: Child
  let folder: string
  let url: string

  beforeAll(async () => {
    const [metrics, port] = [await freeTcpPort(), await freeTcpPort()]
    folder = await mkdtemp(join(tmpdir(), 'hedgerow-prometheus-'))
    await mkdir(join(folder, 'backups'), { mode: 0o700 })
    hub = await startHub({ env: { HUB_METRICS_PORT: String(metrics), HUB_BACKUP_DIR: join(folder, 'backups') } })
    gateway = await startGateway(hub, { name: 'Barn' })
    await admit(hub)
    const settings = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [join(DEPLOY, 'prometheus-rules.yaml')],
      scrape_configs: [{ job_name: 'hedgerow', static_configs: [{ targets: [`127.0.0.1:${metrics}`] }] }],
    }
    // JSON is YAML.
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(settings))
    const files = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`]
    prometheus = await startChild('prometheus', [...files, `--web.listen-address=127.0.0.1:${port}`])
    await prometheus.says(/Server is ready to receive web requests/)
    url = `http://127.0.0.1:${port}/api/v1`
  })
  afterAll(async () => {
    await prometheus?.stop()
    await gateway?.stop()
    await hub?.stop()
    if (folder) await rm(folder, { recursive: true })
  })

  async function get<A>(path: string): Promise<A> {
    return (await (await fetch(`${url}${path}`)).json()) as A
  }
  /** Rejects when Prometheus cannot evaluate it. */
  async function hasResult(text: string): Promise<boolean> {
    const { status, error, data } = await get<Answer>(`/query?query=${encodeURIComponent(text)}`)
    if (status !== 'success') throw new Error(`${text}: ${error}`)
    return data.result.length > 0
  }

  test('finds a result for every query of the dashboard', async () => {
    const { panels } = JSON.parse(await readFile(join(DEPLOY, 'grafana-dashboard.json'), 'utf8')) as Dashboard
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    expect(queries.length).toBeGreaterThan(10)
    const quiet = queries.filter((text) => WITHOUT_RESULT.some((pattern) => pattern.test(text)))
    expect(quiet).toHaveLength(3)
    for (const text of quiet) await hasResult(text)
    for (const text of queries.filter((one) => !quiet.includes(one)))
      await waitFor(() => hasResult(text), { for: text, timeoutMs: 60_000 })
  })

  test('evaluates every alert over metrics that the hub has', async () => {
    const rules = await waitFor(
      async () => {
        const { data } = await get<{ data: { groups: { rules: Rule[] }[] } }>('/rules')
        const all = data.groups.flatMap((group) => group.rules)
        return all.length > 0 && all.every(({ health }) => health === 'ok') ? all : undefined
      },
      { for: 'the rules to be evaluated', timeoutMs: 60_000 },
    )
    expect(rules.length).toBeGreaterThan(5)
    for (const { name, query: text } of rules) {
      // What is compared exists, also while nothing is wrong.
      const compared = text.replaceAll(/ (?:==|>=|<=|>|<) [\d.* ]+/g, ' ')
      expect(compared, name).not.toBe(text)
      await waitFor(() => hasResult(compared), { for: `${name}: ${compared}`, timeoutMs: 60_000 })
    }
  })
})
