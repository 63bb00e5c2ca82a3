import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Detection } from '@hedgerow/contract'
import { createRandom } from '@hedgerow/vision/rendered'
import { newTally, startSimulatedGateway, type SimulatedGateway, type Tally } from './gateway.ts'
import { fleetPictures } from './pictures.ts'
import { planFleet, type GatewayPlan, type Shares, type Sources } from './plan.ts'

/** Thousands of gateways in this process, joined to a hub by the agent's own code. */
export type Fleet = {
  /** Resolves when every gateway runs; rejects with the error of the first that did not start. */
  allStarted: Promise<void>
  /** The started gateways, without the clones. */
  gateways(): readonly SimulatedGateway[]
  /** How many gateways are at each step of joining the hub, and the counts since the start. */
  state(): FleetState
  /** How many gateways had a heartbeat acknowledged since then, in milliseconds since 1970. */
  heardSince(sinceMs: number): number
  /** The recent problems, one sentence each, the most frequent first. */
  problems(): { sentence: string; gateways: number }[]
  /**
   * Stops detections and outages until `setDetectionsPerSecond`. Resolves when every detection is acknowledged or
   * refused; false when `limitMs` were not enough.
   */
  settle(limitMs: number): Promise<boolean>
  /** The detections so far: their ids are `prefix` and a number from 0 to below `count`. */
  reported(): Reported
  setDetectionsPerSecond(rate: number): void
  stop(): Promise<void>
}

export type Reported = { prefix: string; count: number }

export type FleetState = Tally & {
  started: number
  enrolled: number
  waiting: number
  refused: number
  inTunnel: number
  /** Gateways whose last heartbeat was acknowledged. */
  heard: number
}

export type FleetOptions = {
  hubUrl: URL
  /** A folder with one folder for each gateway; existing keys are used again. */
  dataDir: string
  gateways: number
  /** As in `planFleet`. */
  first?: number | undefined
  seed: number
  shares: Shares
  sources?: Sources | undefined
  invitationCode?: string | undefined
  /** Starts a second. */
  startsPerSecond: number
  /** The rate of the whole fleet. */
  detectionsPerSecond: number
  /** The fraction of detections with a picture. */
  picturesShare: number
}

const TICK_MS = 50
/** Work missed in longer pauses of this process is skipped. */
const LATE_MAX_MS = 1_000
const DETECTION_LENGTH_MS = 8_000
const SETTLE_LOOK_MS = 100

/** Starts gateways one after the other; running ones work meanwhile. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { dataDir, seed, startsPerSecond, picturesShare, first = 0 } = options
  const plans = planFleet({ ...options, count: options.gateways })
  const pictures = await fleetPictures()
  const random = createRandom(seed + first)
  const tally = newTally()
  const gateways: SimulatedGateway[] = []
  const clones: SimulatedGateway[] = []
  const timers = new Set<NodeJS.Timeout>()
  const prefix = `fleet-${seed}-${first}-${Date.now().toString(36)}-`
  let isStopping = false
  let isCalm = false
  let { detectionsPerSecond } = options
  let made = 0

  const start = (plan: GatewayPlan, folder: string) =>
    startSimulatedGateway({ ...options, plan, dataDir: join(dataDir, folder), pictures, tally })

  function later(afterMs: number, action: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      if (!isStopping) action()
    }, afterMs)
    timers.add(timer)
  }

  function repeat({ firstAtMs, everyMs }: { firstAtMs: number; everyMs: number }, action: () => void): void {
    later(firstAtMs, () => {
      action()
      timers.add(setInterval(action, everyMs))
    })
  }

  function live({ plan, network, dataDir: ownDir }: SimulatedGateway): void {
    const { outages, roams, clone } = plan
    if (outages)
      repeat(outages, () => {
        if (isCalm) return
        network.disconnect()
        later(outages.lengthMs, network.connect)
      })
    if (roams) {
      let isAway = false
      repeat(roams, () => {
        isAway = !isAway
        network.moveTo(isAway ? roams.address : plan.address)
      })
    }
    if (clone)
      later(clone.atMs, () => {
        const folder = `${plan.index}-clone`
        const copied = { ...plan, address: clone.address }
        void cp(join(ownDir, 'keys.json'), join(dataDir, folder, 'keys.json'))
          .then(() => start(copied, folder))
          .then((gateway) => clones.push(gateway))
      })
  }

  function nextDetection(gateway: SimulatedGateway): Detection {
    const picture = random.pick(pictures)
    const atMs = Date.now() + gateway.plan.clockErrorMs
    return {
      id: `${prefix}${made++}`,
      camera: random.pick(gateway.plan.cameras),
      label: picture.label,
      severity: random.next() < 0.3 ? 'alert' : 'detection',
      score: Math.round(random.between(0.5, 1) * 100) / 100,
      startedAt: new Date(atMs - DETECTION_LENGTH_MS).toISOString(),
      endedAt: new Date(atMs).toISOString(),
      ...(random.next() < picturesShare && { thumbnail: picture.base64 }),
    }
  }

  let due = 0
  let lastTickMs = performance.now()
  const ticker = setInterval(() => {
    const now = performance.now()
    if (isCalm) return
    due += (Math.min(now - lastTickMs, LATE_MAX_MS) / 1_000) * detectionsPerSecond
    lastTickMs = now
    for (; due >= 1 && gateways.length > 0; due--) {
      const gateway = random.pick(gateways)
      // Detections before its approval would only fill its disk.
      if (gateway.conditions().approved.state === 'done') void gateway.report(nextDetection(gateway))
    }
  }, TICK_MS)

  async function startAll(): Promise<void> {
    const startedAtMs = performance.now()
    for (const plan of plans) {
      const gateway = await start(plan, String(plan.index))
      gateways.push(gateway)
      live(gateway)
      const aheadMs = (gateways.length / startsPerSecond) * 1_000 - (performance.now() - startedAtMs)
      if (aheadMs > 0) await sleep(aheadMs)
      if (isStopping) return
    }
  }
  const allStarted = startAll()
  allStarted.catch(() => {})

  return {
    allStarted,
    gateways: () => gateways,
    state() {
      const counts = { started: gateways.length, enrolled: 0, waiting: 0, refused: 0, inTunnel: 0, heard: 0 }
      for (const gateway of gateways) {
        const { registered, approved, tunnelUp, heartbeat } = gateway.conditions()
        if (approved.state === 'done') counts.enrolled += 1
        else if (approved.state === 'failed' || registered.state === 'failed') counts.refused += 1
        else if (registered.state === 'done') counts.waiting += 1
        if (tunnelUp.state === 'done') counts.inTunnel += 1
        if (heartbeat.state === 'done') counts.heard += 1
      }
      return { ...tally, ...counts }
    },
    heardSince: (sinceMs) => gateways.filter((gateway) => gateway.heardAt() >= sinceMs).length,
    problems() {
      const counts = new Map<string, number>()
      for (const gateway of gateways)
        for (const { state, label, detail } of Object.values(gateway.conditions()))
          if (state === 'failed') counts.set(`${label}: ${detail}`, (counts.get(`${label}: ${detail}`) ?? 0) + 1)
      return [...counts]
        .map(([sentence, found]) => ({ sentence, gateways: found }))
        .toSorted((a, b) => b.gateways - a.gateways)
    },
    async settle(limitMs) {
      isCalm = true
      for (const { network } of gateways) network.connect()
      const endMs = performance.now() + limitMs
      const isSettled = () => tally.detectionsAcknowledged + tally.detectionsRefused >= tally.detectionsSent
      while (!isSettled() && performance.now() < endMs) await sleep(SETTLE_LOOK_MS)
      return isSettled()
    },
    reported: () => ({ prefix, count: made }),
    setDetectionsPerSecond(rate) {
      detectionsPerSecond = rate
      isCalm = false
    },
    async stop() {
      isStopping = true
      clearInterval(ticker)
      for (const timer of timers) clearTimeout(timer)
      await allStarted.catch(() => {})
      await Promise.all([...gateways, ...clones].map((gateway) => gateway.stop()))
    },
  }
}
