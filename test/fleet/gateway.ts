import { join } from 'node:path'
import type { Detection, GatewayReview } from '@hedgerow/contract'
import { createFaults } from '@hedgerow/http'
import { pino } from 'pino'
import manifest from '../../package.json' with { type: 'json' }
import { createConditions, type Condition, type Step } from '../../apps/gateway/src/kernel/conditions.ts'
import { openDetectionQueue } from '../../apps/gateway/src/hub/detection-queue.ts'
import { openHubConnection } from '../../apps/gateway/src/hub/hub-connection.ts'
import { createHubDoor, type HubDoor } from '../../apps/gateway/src/hub-door/hub-door.ts'
import { makePrivateDirectory } from '../../apps/gateway/src/kernel/durable-file.ts'
import { GATEWAY_DOOR_PORT } from '@hedgerow/contract'
import { createNetwork, type SimulatedNetwork } from './network.ts'
import type { Picture } from './pictures.ts'
import type { GatewayPlan } from './plan.ts'

/**
 * A gateway of the fleet: the agent's own way to the hub (discovery, enrolment, WireGuard, TCP, heartbeats, the queue
 * of detections, the hub's door) without the parts that cost too much a thousand times in one process: its own pages on
 * port 8080, the supervisor of its deterrents, cameras, and the record of detections.
 */
export type SimulatedGateway = {
  plan: GatewayPlan
  dataDir: string
  network: SimulatedNetwork
  conditions(): Record<Step, Condition>
  /** When a heartbeat was last acknowledged, in milliseconds since 1970; -Infinity before the first. */
  heardAt(): number
  /** Resolves when it is in the agent's queue on disk. */
  report(detection: Detection): Promise<void>
  stop(): Promise<void>
}

/** Counts since the start of the fleet. */
export type Tally = {
  heartbeats: number
  unansweredHeartbeats: number
  /** Tunnels that came up, and those among them that were up before. */
  tunnels: number
  reconnects: number
  detectionsSent: number
  detectionsAcknowledged: number
  detectionsRefused: number
}

export const newTally = (): Tally => ({
  heartbeats: 0,
  unansweredHeartbeats: 0,
  tunnels: 0,
  reconnects: 0,
  detectionsSent: 0,
  detectionsAcknowledged: 0,
  detectionsRefused: 0,
})

export type SimulatedGatewayOptions = {
  plan: GatewayPlan
  dataDir: string
  hubUrl: URL
  invitationCode?: string | undefined
  pictures: readonly Picture[]
  tally: Tally
}

const log = pino({ level: 'silent' })
const faults = createFaults({ report: () => {} })

/** Rejects with DataFileError or the disk's error. */
export async function startSimulatedGateway(options: SimulatedGatewayOptions): Promise<SimulatedGateway> {
  const { plan, dataDir, hubUrl, invitationCode, pictures, tally } = options
  const life = new AsyncDisposableStack()
  const network = createNetwork(plan.address)
  const conditions = countedConditions(tally)
  const startedAtMs = performance.now()

  await makePrivateDirectory(dataDir)
  const queue = await openDetectionQueue(join(dataDir, 'detections'), log)
  life.defer(() => queue.close())
  const reviews = new Map<string, GatewayReview>()
  const hub = await openHubConnection(
    {
      dataDir,
      hubUrl,
      name: plan.name,
      location: plan.location,
      invitationCode,
      version: manifest.version,
      log,
      network,
      conditions,
      wallClock: () => Date.now() + plan.clockErrorMs,
      searchDomains: [],
      uptimeSeconds: () => Math.round((performance.now() - startedAtMs) / 1_000),
      queue: {
        ...queue,
        async remove(batch) {
          await queue.remove(batch)
          tally.detectionsAcknowledged += batch.detections.length
        },
        countRefused(count) {
          queue.countRefused(count)
          tally.detectionsRefused += count
          tally.detectionsAcknowledged -= count
        },
      },
      deterrents: { ledger: async () => [], ledgerAfter: async () => [], onChange: () => {}, onEntry: () => {} },
      reviews: {
        put: (_gatewayId, news) => news.forEach((review) => reviews.set(review.detection, review)),
        newest: () => [...reviews.values()].reduce((newest, { seq }) => Math.max(newest, seq), 0),
      },
      parts: () => ({
        armed: true,
        cameras: plan.cameras.map((name) => ({ name, state: 'online', fps: 5 })),
        detectors: [{ name: 'demonstration eye', inferenceMs: 9 }],
        deterrents: [{ name: plan.deterrent, state: 'ready' }],
        problems: [],
      }),
    },
    life,
  )

  // Most gateways of a large fleet are never asked for a picture.
  let door: HubDoor | undefined
  life.defer(() => door?.stop())
  const pictureOf = (text: string) => pictures[text.length % pictures.length]?.jpeg
  const openDoor = () =>
    createHubDoor({
      deterrents: {
        fire: async () => ({ refused: 'simulated', message: 'A simulated gateway switches nothing.' }),
        stop: async () => {},
        arm: async () => true,
        disarm: async () => {},
      },
      learning: {
        undo: () => false,
        begin() {},
        names: { undo: () => false, use: () => 'A simulated gateway learns nothing.', give: () => undefined },
        report: () => ({ state: 'off', lastRunAt: null, message: 'A simulated gateway learns nothing.', cameras: [] }),
      },
      pictures: {
        latest: async (camera) => {
          const jpeg = plan.cameras.includes(camera) ? pictureOf(camera) : undefined
          return jpeg && { jpeg, ageMs: 0 }
        },
        snapshot: async (detection) => pictureOf(detection.label),
        clip: async () => undefined,
      },
      record: { find: () => undefined, picture: () => undefined },
      faults,
      log,
    })
  await hub.start(new Map([[GATEWAY_DOOR_PORT, (connection) => (door ??= openDoor()).accept(connection)]]))

  return {
    plan,
    dataDir,
    network,
    conditions: () =>
      Object.fromEntries(conditions.conditions().map((condition) => [condition.step, condition])) as Record<
        Step,
        Condition
      >,
    heardAt: conditions.heardAt,
    async report(detection) {
      // Counted first: the fleet settles when nothing is under way.
      tally.detectionsSent += 1
      await queue.append([detection])
    },
    stop: () => life.disposeAsync(),
  }
}

/** The agent's own conditions, which also count into the tally and keep the time of the last heartbeat. */
function countedConditions(tally: Tally) {
  const conditions = createConditions(() => {})
  let wasUp = false
  let heardAt = -Infinity
  return {
    ...conditions,
    heardAt: () => heardAt,
    done(step: Step, detail: string) {
      if (step === 'heartbeat') {
        tally.heartbeats += 1
        heardAt = Date.now()
      }
      if (step === 'tunnelUp') {
        tally.tunnels += 1
        if (wasUp) tally.reconnects += 1
        wasUp = true
      }
      conditions.done(step, detail)
    },
    failed(step: Step, detail: string) {
      if (step === 'heartbeat') tally.unansweredHeartbeats += 1
      conditions.failed(step, detail)
    },
  }
}
