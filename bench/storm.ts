import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { addAlertRule, ALERT_RULE_DEFAULTS, deleteAlertRule, listAlertRules, editHubSettings } from '@hedgerow/contract'
import { patiently } from '../test/harness/patiently.ts'
import { freeTcpPort } from '../test/harness/free-ports.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { joinPlayedGateway } from '../test/harness/played-gateway.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { processorSeconds } from './processor.ts'
import { report } from './report.ts'

const GOAL_PERCENT_OF_A_CORE = 5
/** The batches of each gateway in a second: an agent sends several detections together. */
const BATCHES_A_SECOND = 2
/** How long a message collects incidents: longer than a storm of this bench. */
const COLLECT_SECONDS = 15
const RULE = { severity: 'any', collectSeconds: COLLECT_SECONDS, channels: ['webhook'] } as const

type Gateway = Awaited<ReturnType<typeof joinPlayedGateway>>
type Storm = { gateways: Gateway[]; perSecond: number; seconds: number }

/**
 * Gateways that report many detections a second, each one an incident of its own. The cost of the alert rules is the
 * hub's processor time with them, less that without any, in turns. `--gateways 10 --per-second 1000 --seconds 10
 * --rules 100 --turns 3`.
 */
export async function benchStorm(args: string[]): Promise<void> {
  const number = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    args,
    options: {
      gateways: number('10'),
      'per-second': number('1000'),
      seconds: number('10'),
      rules: number('100'),
      turns: number('3'),
    },
  })
  /** The number of incidents in each message. */
  const messages: number[] = []
  const told = () => messages.reduce((sum, incidents) => sum + incidents, 0)
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      const { event, data } = JSON.parse(body) as { event: string; data: { incidents: string } }
      if (event === 'incident.alert') messages.push(Number(data.incidents))
      response.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const metricsPort = await freeTcpPort()
  const hub = await startHub({
    env: {
      HUB_METRICS_PORT: String(metricsPort),
      HUB_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      HUB_WEBHOOK_SECRET: 'a secret for this bench',
    },
  })
  const gateways: Gateway[] = []
  try {
    await hub.api(editHubSettings, { body: { detectionsPerHour: 1_000_000, detectionMegabytesPerHour: 100_000 } })
    for (let n = 0; n < Number(values.gateways); n += 1)
      gateways.push(await joinPlayedGateway(hub, (stream) => stream.destroy()))
    const storm = { gateways, perSecond: Number(values['per-second']), seconds: Number(values.seconds) }
    const kinds = { none: 0, 'of which one matches': Number(values.rules) - 1 }
    const percent: Record<string, number[]> = {}
    let sent = 0
    for (let turn = 0; turn < Number(values.turns); turn += 1)
      for (const [kind, others] of Object.entries(kinds)) {
        await setRules(
          hub,
          kind === 'none' ? [] : [...Array.from({ length: others }, (_, n) => other(n)), { ...RULE, name: 'All' }],
        )
        const before = await processorSeconds(metricsPort)
        const count = await rage(storm, `${turn}-${kind}`)
        ;(percent[kind] ??= []).push(((await processorSeconds(metricsPort)) - before) * (100 / storm.seconds))
        if (kind === 'none') continue
        sent += count
        await waitFor(() => told() >= sent, { for: 'the message', timeoutMs: 4 * COLLECT_SECONDS * 1_000 })
      }
    const rows = Object.entries(percent).map(([kind, found]) => [
      `rules: ${kind === 'none' ? kind : `${values.rules}, ${kind}`}`,
      row(found),
    ])
    const [without, withRules] = Object.values(percent).map(median)
    report('storm', {
      ...Object.fromEntries(rows),
      'cost of the rules, % of a core': { median: round(withRules! - without!), goal: GOAL_PERCENT_OF_A_CORE },
      'incidents of storms with rules': { sent, told: told() },
      messages: { storms: Number(values.turns), sent: messages.length },
    })
  } finally {
    for (const gateway of gateways) await gateway.stop()
    await hub.stop()
    receiver.close()
  }
}

const other = (n: number) => ({ ...RULE, name: `Other ${n}`, labels: [`never ${n}`], sites: [`Field ${n}`] })

/** Replaces all rules. */
async function setRules(hub: Hub, rules: readonly { name: string }[]): Promise<void> {
  for (const { id } of await hub.api(listAlertRules))
    await patiently(() => hub.api(deleteAlertRule, { params: { id } }))
  for (const rule of rules) await patiently(() => hub.api(addAlertRule, { body: { ...ALERT_RULE_DEFAULTS, ...rule } }))
}

/** Sends until `seconds` are over, however slow the hub is; resolves with the number of accepted detections. */
async function rage({ gateways, perSecond, seconds }: Storm, name: string): Promise<number> {
  const each = Math.round(perSecond / gateways.length / BATCHES_A_SECOND)
  const startedAt = performance.now()
  let accepted = 0
  for (let batch = 0; batch < seconds * BATCHES_A_SECOND; batch += 1) {
    await sleep(Math.max(0, startedAt + (batch * 1_000) / BATCHES_A_SECOND - performance.now()))
    const answers = await Promise.all(
      gateways.map((gateway) =>
        gateway.post('/api/v1/gateway/detections', { detections: detections(name, batch, each) }),
      ),
    )
    for (const { status, body } of answers) {
      if (status !== 200) throw new Error(`the hub answered ${status}: ${JSON.stringify(body)}`)
      accepted += (body as { accepted: number }).accepted
    }
  }
  return accepted
}

function detections(name: string, batch: number, count: number) {
  const startedAt = new Date().toISOString()
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}-${batch}-${index}`,
    camera: `camera-${index % 4}`,
    label: `${name} ${batch} ${index}`,
    severity: 'alert',
    score: 0.83,
    startedAt,
  }))
}

const round = (value: number) => Math.round(value * 10) / 10
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!
const row = (percent: readonly number[]) => ({
  'median, % of a core': round(median(percent)),
  'most, % of a core': round(Math.max(...percent)),
})
