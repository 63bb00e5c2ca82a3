import { join } from 'node:path'
import { startCalledProcess } from '../harness/called-process.ts'
import type { Fleet, FleetOptions, FleetState, Reported } from './fleet.ts'
import type { FleetProcess } from './process.ts'

/**
 * A fleet in as many processes as its size needs. One process could not open enough files for ten thousand gateways
 * whose hub is away: each has a socket, a file of detections that wait, and now and then a call to the hub.
 */
export type FleetInProcesses = {
  [Name in 'heardSince' | 'settle' | 'setDetectionsPerSecond' | 'stop']: (
    ...given: Parameters<Fleet[Name]>
  ) => Promise<Awaited<ReturnType<Fleet[Name]>>>
} & {
  allStarted: Promise<void>
  state(): Promise<FleetState>
  problems(): Promise<ReturnType<Fleet['problems']>>
  /** The detections of each process. */
  reported(): Promise<Reported[]>
  /** Resident memory of all processes, and their processor time so far. */
  used(): Promise<{ megabytes: number; processorSeconds: number }>
}

const GATEWAYS_A_PROCESS = 2_500
const FILES_A_GATEWAY = 3
const SPARE_FILES = 500

/** How many files one of the processes has open at most. */
export const filesOfFleet = (gateways: number): number =>
  Math.min(gateways, GATEWAYS_A_PROCESS) * FILES_A_GATEWAY + SPARE_FILES

export async function startFleetInProcesses(options: Omit<FleetOptions, 'first'>): Promise<FleetInProcesses> {
  const { gateways, detectionsPerSecond, startsPerSecond } = options
  const count = Math.ceil(gateways / GATEWAYS_A_PROCESS)
  const parts = Array.from({ length: count }, (_, index) => {
    const first = index * GATEWAYS_A_PROCESS
    const size = Math.min(GATEWAYS_A_PROCESS, gateways - first)
    const process = startCalledProcess<FleetProcess>(join(import.meta.dirname, 'process.ts'))
    return { first, size, share: size / gateways, process }
  })
  const ofEach = <Name extends keyof FleetProcess>(name: Name, argument: Parameters<FleetProcess[Name]>[0]) =>
    Promise.all(parts.map((part) => part.process.call(name, argument)))

  await Promise.all(
    parts.map(({ first, size, share, process }) =>
      process.call('start', {
        ...options,
        hubUrl: options.hubUrl.href,
        first,
        gateways: size,
        detectionsPerSecond: detectionsPerSecond * share,
        startsPerSecond: startsPerSecond * share,
      }),
    ),
  )
  const allStarted = ofEach('allStarted', undefined).then(() => {})
  allStarted.catch(() => {})

  return {
    allStarted,
    async state() {
      const [total, ...others] = await ofEach('state', undefined)
      for (const other of others)
        for (const name of Object.keys(other) as (keyof FleetState)[]) total![name] += other[name]
      return total!
    },
    async problems() {
      const counts = new Map<string, number>()
      for (const { sentence, gateways: found } of (await ofEach('problems', undefined)).flat())
        counts.set(sentence, (counts.get(sentence) ?? 0) + found)
      return [...counts]
        .map(([sentence, found]) => ({ sentence, gateways: found }))
        .toSorted((a, b) => b.gateways - a.gateways)
    },
    heardSince: async (sinceMs) => sum(await ofEach('heardSince', sinceMs)),
    settle: async (limitMs) => (await ofEach('settle', limitMs)).every((isSettled) => isSettled),
    reported: () => ofEach('reported', undefined),
    async setDetectionsPerSecond(rate) {
      await Promise.all(parts.map(({ share, process }) => process.call('setDetectionsPerSecond', rate * share)))
    },
    async used() {
      const used = await ofEach('used', undefined)
      const processorUs = sum(used.map(({ processor }) => processor.user + processor.system))
      return { megabytes: sum(used.map(({ memoryBytes }) => memoryBytes)) / 1e6, processorSeconds: processorUs / 1e6 }
    },
    async stop() {
      await ofEach('stop', undefined)
      await Promise.all(parts.map(({ process }) => process.stop()))
    },
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
