import { setTimeout as sleep } from 'node:timers/promises'
import { lostDetections } from '../fleet/lost.ts'
import { allBack, type Found, type Site } from './site.ts'

const BACK_LIMIT_MS = 600_000
const SETTLE_MS = 60_000
const DETECTIONS_A_SECOND = 5

/** Stops the hub's process, as on a suspended machine, and continues it. */
export async function standstill({ hub, fleet }: Site, options: { seconds: number }): Promise<Found> {
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
  const isSettled = await fleet.settle(SETTLE_MS)
  const { detectionsSent, detectionsAcknowledged, detectionsRefused } = fleet.state()
  const lost = await lostDetections(hub, [fleet.reported()])
  const broken: string[] = []
  if (!isBack) broken.push('not every gateway came back')
  if (!isSettled) broken.push(`${detectionsSent - detectionsAcknowledged} detections did not reach the hub`)
  if (lost.length > detectionsRefused)
    broken.push(`${lost.length} detections are not in the database, the first ${lost[0]}`)
  return {
    figures: {
      'stood still, s': options.seconds,
      'until the last gateway was back, s': Math.round(backMs / 100) / 10,
      'detections acknowledged': detectionsAcknowledged,
    },
    broken,
  }
}
