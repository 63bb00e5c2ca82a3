import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGatewayInvitation, editAutoApprovalSettings, editHubSettings } from '@hedgerow/contract'
import { memoryFolder } from '../../scripts/memory-folder.ts'
import { startFleet, type Fleet } from '../fleet/fleet.ts'
import { lostDetections } from '../fleet/lost.ts'
import { parseSources } from '../fleet/plan.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

/** The result of a part of the soak: figures, and a sentence for each broken promise. */
export type Found = { figures: Record<string, number>; broken: string[] }

/** A hub with a simulated fleet. */
export type Site = { hub: Hub; fleet: Fleet; dataDir: string }

const JOIN_LIMIT_MS = 600_000
const SETTLE_MS = 60_000
const STARTS_A_SECOND = 50

/** Gateways that are not `invited` wait for approval; the site is ready when all joined, or all wait. */
export async function openSite(
  options: { gateways: number; invited?: boolean },
  life: AsyncDisposableStack,
): Promise<Site> {
  const { gateways, invited = true } = options
  const hub = await startHub({ env: { HUB_LOG_LEVEL: 'error', HUB_METRICS_TOKEN: METRICS_TOKEN } })
  life.defer(async () => void (await hub.stop()))
  await hub.api(editHubSettings, { body: { maxGateways: Math.max(100, gateways) } })
  await hub.api(editAutoApprovalSettings, { body: { enabled: invited } })
  const { code } = await hub.api(createGatewayInvitation, {
    body: { label: 'Soak', maxUses: gateways, expiresInHours: 8_000 },
  })
  const dataDir = await mkdtemp(join(memoryFolder() ?? tmpdir(), 'hedgerow-soak-'))
  life.defer(() => rm(dataDir, { recursive: true, force: true }))
  const fleet = await startFleet({
    hubUrl: new URL(`http://127.0.0.1:${hub.port}`),
    dataDir,
    gateways,
    seed: 7,
    shares: { flapping: 0, roaming: 0, clockErrors: 0, clones: 0 },
    sources: parseSources('127.64.0.0/10'),
    ...(invited && { invitationCode: code }),
    startsPerSecond: STARTS_A_SECOND,
    detectionsPerSecond: 0,
    picturesShare: 1,
  })
  life.defer(() => fleet.stop())
  await fleet.allStarted
  const isReady = () => (invited ? fleet.heardSince(0) : fleet.state().waiting) === gateways
  await waitFor(isReady, { for: `${gateways} gateways`, timeoutMs: JOIN_LIMIT_MS })
  return { hub, fleet, dataDir }
}

/** Waits until the hub has what the fleet reported: the acknowledged count, and a sentence for each kind of loss. */
export async function settleDetections({ hub, fleet }: Site): Promise<{ acknowledged: number; broken: string[] }> {
  const isSettled = await fleet.settle(SETTLE_MS)
  const { detectionsSent, detectionsAcknowledged, detectionsRefused } = fleet.state()
  const lost = await lostDetections(hub, [fleet.reported()])
  const broken: string[] = []
  if (!isSettled) broken.push(`${detectionsSent - detectionsAcknowledged} detections did not reach the hub`)
  if (lost.length > detectionsRefused)
    broken.push(`${lost.length} detections are not in the database, the first ${lost[0]}`)
  return { acknowledged: detectionsAcknowledged, broken }
}

const METRICS_TOKEN = 'a-token-for-the-soak'

/** The sum of a metric's series whose line contains `label`. */
export async function metric(hub: Hub, name: string, label = ''): Promise<number> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const text = await (await fetch(`http://127.0.0.1:${hub.port}/metrics`, { headers })).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(name) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** The hub's resident memory in MB and its open files (proc_pid_status(5), proc_pid_fd(5)). */
export async function usageOf(hub: Hub): Promise<{ megabytes: number; files: number }> {
  const { pid } = hub.process()
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
  return { megabytes: Math.round(Number(kilobytes) / 1_000), files: (await readdir(`/proc/${pid}/fd`)).length }
}

/**
 * The largest of the last third beside the largest of the middle third: it is larger for memory that grows for ever.
 */
export function growthOf(samples: readonly number[]): { before: number; after: number } {
  const third = Math.max(1, Math.floor(samples.length / 3))
  return { before: Math.max(...samples.slice(-2 * third, -third)), after: Math.max(...samples.slice(-third)) }
}

/** Waits until every gateway had a heartbeat acknowledged since now; false when `limitMs` were not enough. */
export function allBack(fleet: Fleet, limitMs: number): Promise<boolean> {
  const since = Date.now()
  const isBack = () => fleet.heardSince(since) === fleet.gateways().length
  return waitFor(isBack, { for: 'all gateways to be back', timeoutMs: limitMs }).catch(() => false)
}
