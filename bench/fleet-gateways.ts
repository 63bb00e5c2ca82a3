/** The simulated gateways of `npm run bench fleet`, in a process of their own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFleet, type Fleet, type FleetOptions } from '../test/fleet/fleet.ts'
import { parseSources } from '../test/fleet/plan.ts'
import { serve } from './wireguard-process.ts'

type Start = Pick<FleetOptions, 'gateways' | 'detectionsPerSecond' | 'startsPerSecond'> & {
  hubUrl: string
  invitationCode: string
}

let fleet: Fleet
let dataDir: string
/** A bench has no failing gateways: `npm run fleet` has options for those. */
const shares = { flapping: 0, roaming: 0, clockErrors: 0, clones: 0 }

const handlers = {
  async start({ hubUrl, ...options }: Start): Promise<void> {
    dataDir = await mkdtemp(join(tmpdir(), 'fleet-'))
    const sources = parseSources('127.64.0.0/10')
    fleet = await startFleet({
      ...options,
      hubUrl: new URL(hubUrl),
      dataDir,
      seed: 7,
      shares,
      sources,
      picturesShare: 1,
    })
  },
  setDetections: (perSecond: number): void => fleet.setDetectionsPerSecond(perSecond),
  state: () => fleet.state(),
  problems: () => fleet.problems().slice(0, 3),
  heardSince: (sinceMs: number): number => fleet.heardSince(sinceMs),
  settle: (limitMs: number): Promise<boolean> => fleet.settle(limitMs),
  async stop(): Promise<void> {
    await fleet.stop()
    await rm(dataDir, { recursive: true, force: true })
  },
}

export type FleetProcess = typeof handlers

serve(handlers)
