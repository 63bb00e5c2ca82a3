/** A part of a fleet in a process of its own, for `processes.ts`. */
import { setPriority } from 'node:os'
import { serve } from '../harness/called-process.ts'
import { startFleet, type Fleet, type FleetOptions } from './fleet.ts'

/** A hub on the same machine goes first: each gateway of a real fleet has a processor of its own. */
const BELOW_THE_HUB = 10

let fleet: Fleet

const handlers = {
  async start({ hubUrl, ...options }: Omit<FleetOptions, 'hubUrl'> & { hubUrl: string }): Promise<void> {
    fleet = await startFleet({ ...options, hubUrl: new URL(hubUrl) })
  },
  allStarted: (_nothing: undefined): Promise<void> => fleet.allStarted,
  state: (_nothing: undefined) => fleet.state(),
  problems: (_nothing: undefined) => fleet.problems(),
  heardSince: (sinceMs: number): number => fleet.heardSince(sinceMs),
  settle: (limitMs: number): Promise<boolean> => fleet.settle(limitMs),
  setDetectionsPerSecond: (perSecond: number): void => fleet.setDetectionsPerSecond(perSecond),
  reported: (_nothing: undefined) => fleet.reported(),
  used: (_nothing: undefined) => ({ memoryBytes: process.memoryUsage.rss(), processor: process.cpuUsage() }),
  stop: (_nothing: undefined): Promise<void> => fleet.stop(),
}

export type FleetProcess = typeof handlers

setPriority(BELOW_THE_HUB)
// Ctrl-C reaches the whole group of processes; the parent decides how this one ends.
process.on('SIGINT', () => {})
serve(handlers)
