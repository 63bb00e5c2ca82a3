import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createGatewayInvitation, editAutoApprovalSettings, editHubSettings } from '@hedgerow/contract'
import { memoryFolder } from '../scripts/memory-folder.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { openPortals, type People } from '../test/fleet/people.ts'
import { lostDetections } from '../test/fleet/lost.ts'
import { parseSources } from '../test/fleet/plan.ts'
import { startFleetInProcesses, type FleetInProcesses } from '../test/fleet/processes.ts'
import { processorSecondsOf } from './processor.ts'
import { buildProgram } from './release-bundle.ts'
import { distributionOf, report, reportGoals, rounded } from './report.ts'

const STARTS_A_SECOND = 60
const JOIN_LIMIT_MS = 1_800_000
const BACK_LIMIT_MS = 600_000
const SETTLE_LIMIT_MS = 60_000
/** After an approval a gateway sends five heartbeats close together; they are over by then. */
const CALM_MS = 30_000

/** A bench has no failing gateways: `npm run fleet` has options for those. */
const NO_FAILURES = { flapping: 0, roaming: 0, clockErrors: 0, clones: 0 }

type Row = Record<string, number>

/**
 * A hub with simulated gateways in their tunnels, at fleets of several sizes: what the hub costs at rest and with
 * detections and people, and how long all gateways need to be back after a restart and after kill -9. The hub's
 * processor time and memory are its own process's; the time until an answer also depends on what else the machine does.
 * `--gateways 245,2500,10000 --seconds 60 --detections 100 --people 50`. It builds the bundle that people install;
 * `--hub` is the program of one that is there, such as `bin/hedgerow-hub` of an unpacked release, and `--sources`
 * measures the sources.
 */
export async function benchFleetLoad(args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    args,
    options: {
      gateways: text('245,2500,10000'),
      seconds: text('60'),
      detections: text('100'),
      people: text('50'),
      hub: { type: 'string' },
      sources: { type: 'boolean', default: false },
    },
  })
  // In memory, because otherwise other programs' writes to the same disk would be measured too.
  const folder = memoryFolder()
  if (folder) process.env['TMPDIR'] = folder
  const bundle = await mkdtemp(join(tmpdir(), 'fleet-hub-'))
  try {
    const program = values.sources ? undefined : (values.hub ?? (await buildProgram('hedgerow-hub', bundle)))
    const rows: Record<string, Row> = {}
    for (const gateways of values.gateways.split(',').map(Number))
      rows[`${gateways} gateways`] = await measure({
        gateways,
        durationMs: Number(values.seconds) * 1_000,
        detections: Number(values.detections),
        people: Number(values.people),
        program,
      })
    report('fleet', transposed(rows))
    const figures = Object.entries(rows).flatMap(([fleet, row]) => [
      [`${fleet}: at rest, MB`, row['at rest: memory, MB']],
      [`${fleet}: core, %`, row['with all: core, %']],
      [`${fleet}: p99, ms`, row['answers: p99, ms']],
      [`${fleet}: all back, s`, row['restart to the last gateway, s']],
    ])
    reportGoals('fleet', Object.fromEntries(figures))
  } finally {
    await rm(bundle, { recursive: true, force: true })
  }
}

type Options = {
  gateways: number
  durationMs: number
  detections: number
  people: number
  program?: string | undefined
}

async function measure({ gateways, durationMs, detections, program, ...options }: Options): Promise<Row> {
  const hub = await startHub({ env: { HUB_LOG_LEVEL: 'error' }, ...(program && { command: [program] }) })
  const dataDir = await mkdtemp(join(tmpdir(), 'fleet-'))
  let fleet: FleetInProcesses | undefined
  let people: People | undefined
  try {
    const log = progress(gateways)
    fleet = await joinAll(hub, gateways, dataDir)
    log('all have a heartbeat')
    await sleep(CALM_MS)
    log('at rest')
    const atRest = await load(hub, durationMs)
    log(`${atRest.core} % of a core, ${atRest.megabytes} MB; people and detections`)
    people = await openPortals(hub, options.people)
    await fleet.setDetectionsPerSecond(detections)
    await sleep(CALM_MS)
    people.take()
    log('with all')
    const before = await fleet.state()
    const busy = await load(hub, durationMs)
    const answers = distributionOf(people.take())
    const after = await fleet.state()
    const failed = people.failures()
    log(`${busy.core} % of a core, ${busy.megabytes} MB, p99 ${answers.p99} ms, ${failed} failed; restart`)
    const restarted = await returnAfter(fleet, gateways, () => hub.restart())
    log(`all back after ${restarted.backS} s; kill -9`)
    const killed = await returnAfter(fleet, gateways, async () => {
      await hub.kill9()
      await hub.restart()
    })
    log(`all back after ${killed.backS} s; the last detections`)
    await fleet.settle(SETTLE_LIMIT_MS)
    const end = await fleet.state()
    const lost = await lostDetections(hub, await fleet.reported())
    return {
      'at rest: core, %': atRest.core,
      'at rest: memory, MB': atRest.megabytes,
      'with all: core, %': busy.core,
      'with all: memory, MB': busy.megabytes,
      'heartbeats a second': rounded((after.heartbeats - before.heartbeats) / (durationMs / 1_000)),
      'detections a second': rounded(
        (after.detectionsAcknowledged - before.detectionsAcknowledged) / (durationMs / 1_000),
      ),
      'answers a second': rounded(answers.count / (durationMs / 1_000)),
      'answers: p50, ms': answers.p50,
      'answers: p99, ms': answers.p99,
      'failed answers': failed,
      'at rest: core for 1,000 gateways, %': rounded((atRest.core / gateways) * 1_000),
      'restart to listening, s': restarted.listeningS,
      'restart to the last gateway, s': restarted.backS,
      'kill -9 to listening, s': killed.listeningS,
      'kill -9 to the last gateway, s': killed.backS,
      'detections sent': end.detectionsSent,
      'detections not acknowledged a minute later': end.detectionsSent - end.detectionsAcknowledged,
      'detections whose ids are not in the database': lost.length,
    }
  } finally {
    people?.stop()
    await fleet?.stop()
    await hub.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Tells on standard error, with the seconds so far, which part begins: a large fleet takes a quarter of an hour. */
function progress(gateways: number): (what: string) => void {
  const startedAt = performance.now()
  return (what) =>
    console.error(`${gateways} gateways, ${Math.round((performance.now() - startedAt) / 1_000)} s: ${what}`)
}

/** Lets the hub approve by invitation, and waits until every gateway has a heartbeat acknowledged. */
async function joinAll(hub: Hub, gateways: number, dataDir: string): Promise<FleetInProcesses> {
  await hub.api(editHubSettings, { body: { maxGateways: gateways } })
  await hub.api(editAutoApprovalSettings, { body: { enabled: true } })
  const body = { label: 'Bench', maxUses: gateways, expiresInHours: 24 }
  const { code } = await hub.api(createGatewayInvitation, { body })
  const fleet = await startFleetInProcesses({
    hubUrl: new URL(`http://127.0.0.1:${hub.port}`),
    dataDir,
    invitationCode: code,
    gateways,
    seed: 7,
    shares: NO_FAILURES,
    sources: parseSources('127.64.0.0/10'),
    detectionsPerSecond: 0,
    picturesShare: 1,
    startsPerSecond: STARTS_A_SECOND,
  })
  await waitForAll(fleet, gateways, { since: 0, limitMs: JOIN_LIMIT_MS })
  return fleet
}

async function waitForAll(
  fleet: FleetInProcesses,
  gateways: number,
  { since, limitMs }: { since: number; limitMs: number },
): Promise<void> {
  const heard = async () => (await fleet.heardSince(since)) === gateways
  await waitFor(heard, { for: `${gateways} gateways`, timeoutMs: limitMs, everyMs: 250 }).catch(
    async (error: unknown) => {
      console.error(await fleet.state(), (await fleet.problems()).slice(0, 3))
      throw error
    },
  )
}

/** Seconds until the hub listens again, and until the last gateway had a heartbeat acknowledged. */
async function returnAfter(fleet: FleetInProcesses, gateways: number, restart: () => Promise<void>) {
  const startedAt = performance.now()
  const since = Date.now()
  await restart()
  const listeningS = rounded((performance.now() - startedAt) / 1_000)
  await waitForAll(fleet, gateways, { since, limitMs: BACK_LIMIT_MS })
  return { listeningS, backS: rounded((performance.now() - startedAt) / 1_000) }
}

/** The hub's share of one core over `durationMs`, and its resident memory at the end. */
async function load(hub: Hub, durationMs: number): Promise<{ core: number; megabytes: number }> {
  const { pid } = hub.process()
  const before = processorSecondsOf(pid)
  const startedAt = performance.now()
  await sleep(durationMs)
  const core = (processorSecondsOf(pid) - before) / ((performance.now() - startedAt) / 1_000)
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return { core: rounded(core * 100), megabytes: Math.round(Number(kilobytes) / 1_000) }
}

/** A row for each figure, a column for each fleet. */
function transposed(rows: Record<string, Row>): Record<string, Row> {
  const names = Object.keys(Object.values(rows)[0] ?? {})
  return Object.fromEntries(
    names.map((name) => [name, Object.fromEntries(Object.entries(rows).map(([fleet, row]) => [fleet, row[name]!]))]),
  )
}
