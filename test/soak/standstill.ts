import { setTimeout as sleep } from 'node:timers/promises'
import { allBack, settleDetections, type Found, type Site } from './site.ts'

const BACK_LIMIT_MS = 600_000
const DETECTIONS_A_SECOND = 5

/** Stops the hub's process, as on a suspended machine, and continues it. */
export async function standstill(site: Site, options: { seconds: number }): Promise<Found> {
  const { hub, fleet } = site
  using life = new DisposableStack()
  fleet.setDetectionsPerSecond(DETECTIONS_A_SECOND)
  hub.process().signal('SIGSTOP')
  // A stopped process cannot be ended.
  life.defer(() => hub.process().signal('SIGCONT'))
  await sleep(options.seconds * 1_000)
  hub.process().signal('SIGCONT')
  const startedAt = performance.now()
  const isBack = await allBack(fleet, BACK_LIMIT_MS)
  const backMs = performance.now() - startedAt
  const settled = await settleDetections(site)
  const broken = [...(isBack ? [] : ['not every gateway came back']), ...settled.broken]
  return {
    figures: {
      'stood still, s': options.seconds,
      'until the last gateway was back, s': Math.round(backMs / 100) / 10,
      'detections acknowledged': settled.acknowledged,
    },
    broken,
  }
}
