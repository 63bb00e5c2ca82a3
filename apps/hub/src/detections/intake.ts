/**
 * Stores the detections that gateways report, over either path, while the disk has room and within the gateway's quota.
 */
import type { Detection, HubSettings } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { SharedCommits } from '../database/shared-commits.ts'
import type { StorageWatch } from '../database/storage-watch.ts'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { reportedBytes, storeDetections, type Batch, type PicturedDetection } from './detections.ts'
import { cleanJpeg } from './pictures.ts'
import type { DetectionQuota } from './quota.ts'

type Dependencies = {
  db: Kysely<Tables>
  clock: () => number
  settings: () => Promise<HubSettings>
  requireRoom: StorageWatch['requireRoom']
  quota: Pick<DetectionQuota, 'take' | 'charge' | 'countRefused'>
  metrics: Pick<Metrics, 'countDetections'>
  /** Undefined where each batch has a transaction of its own. */
  commit: SharedCommits<Batch> | undefined
}

/**
 * Stores a gateway's batch; it is committed when that resolves. Returns the ids of those whose picture is no JPEG or
 * too large: they are stored without it, because the detection matters more. Throws `storage_low`,
 * `storage_unavailable` and `detections_over_quota`, each counted as refused.
 */
export function createIntake({ db, clock, settings, requireRoom, quota, metrics, commit }: Dependencies) {
  return async (gatewayId: string, detections: readonly Detection[]): Promise<string[]> => {
    let withoutPicture: string[]
    try {
      await requireRoom()
      // The quota is checked before anything is decoded, so that a gateway above it costs nothing.
      quota.take(gatewayId, detections.length, await settings())
      const { pictured, broken } = await withPictures(gatewayId, detections)
      withoutPicture = broken
      quota.charge(
        gatewayId,
        pictured.reduce((sum, detection) => sum + reportedBytes(detection), 0),
      )
      await storeDetections(db, gatewayId, pictured, clock(), commit)
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      if (error.code === 'storage_low' || error.code === 'storage_unavailable')
        quota.countRefused(gatewayId, detections.length, 'storage')
      metrics.countDetections(gatewayId, 'refused', detections.length)
      throw error
    }
    metrics.countDetections(gatewayId, 'stored', detections.length)
    return withoutPicture
  }
}

/** One picture after the other, so that no batch delays the others. */
async function withPictures(gatewayId: string, detections: readonly Detection[]) {
  const pictured: PicturedDetection[] = []
  const broken: string[] = []
  for (const { thumbnail, ...detection } of detections) {
    const jpeg = thumbnail === undefined ? undefined : await cleanJpeg(gatewayId, Buffer.from(thumbnail, 'base64'))
    if (thumbnail !== undefined && !jpeg) broken.push(detection.id)
    pictured.push({ ...detection, jpeg })
  }
  return { pictured, broken }
}
