import { setTimeout as sleep } from 'node:timers/promises'
import { openPortals } from '../fleet/people.ts'
import { growthOf, settleDetections, usageOf, type Found, type Site } from './site.ts'

/** Growth that the garbage collector may cause. */
const GROWTH_MAX = 1.1
const FILES_MORE = 16

/** A fleet and people with the portal open for the given time: memory and open files stay flat, and nothing is lost. */
export async function day(
  site: Site,
  options: {
    people: number
    detectionsPerSecond: number
    seconds: number
    /** Whether it lasts long enough to judge memory. */
    judgesMemory: boolean
  },
): Promise<Found> {
  const { hub, fleet } = site
  using life = new DisposableStack()
  fleet.setDetectionsPerSecond(options.detectionsPerSecond)
  const people = await openPortals(hub, options.people)
  life.defer(() => people.stop())
  const samples: { megabytes: number; files: number }[] = []
  const endMs = performance.now() + options.seconds * 1_000
  const everyMs = Math.min(10_000, (options.seconds * 1_000) / 12)
  while (performance.now() < endMs) {
    await sleep(everyMs)
    samples.push(await usageOf(hub))
  }
  const failures = people.failures()
  const settled = await settleDetections(site)
  const memory = growthOf(samples.map(({ megabytes }) => megabytes))
  const files = growthOf(samples.map((sample) => sample.files))
  const broken = [...settled.broken]
  if (failures > 0) broken.push(`${failures} answers to people failed`)
  if (files.after > files.before + FILES_MORE) broken.push(`open files grew from ${files.before} to ${files.after}`)
  if (options.judgesMemory && memory.after > memory.before * GROWTH_MAX)
    broken.push(`memory grew from ${memory.before} to ${memory.after} MB`)
  const figures = {
    'memory in the middle, MB': memory.before,
    'memory at the end, MB': memory.after,
    'open files in the middle': files.before,
    'open files at the end': files.after,
    'detections acknowledged': settled.acknowledged,
    'answers to people': people.take().length,
  }
  return { figures, broken }
}
