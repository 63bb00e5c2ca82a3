/**
 * Stores the detections that gateways report, over either path, while the disk has room and within the gateway's quota.
 */
import type { Detection } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { StorageWatch } from '../database/storage-watch.ts'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { readSettings } from '../settings/settings.ts'
import { bytesOf, storeDetections } from './detections.ts'
import type { DetectionQuota } from './quota.ts'

type Dependencies = {
  db: Kysely<Tables>
  clock: () => number
  requireRoom: StorageWatch['requireRoom']
  quota: Pick<DetectionQuota, 'take' | 'countRefused'>
  metrics: Pick<Metrics, 'countDetections'>
}

/**
 * Stores a gateway's batch; it is committed when that resolves. Throws `storage_low`, `storage_unavailable` and
 * `detections_over_quota`, each counted as refused.
 */
export function createIntake({ db, clock, requireRoom, quota, metrics }: Dependencies) {
  return async (gatewayId: string, detections: readonly Detection[]): Promise<void> => {
    const bytes = detections.reduce((sum, detection) => sum + bytesOf(detection), 0)
    try {
      await requireRoom()
      quota.take(gatewayId, { detections: detections.length, bytes }, await readSettings(db))
      await storeDetections(db, gatewayId, detections, clock())
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      if (error.code === 'storage_low' || error.code === 'storage_unavailable')
        quota.countRefused(gatewayId, detections.length, 'storage')
      metrics.countDetections(gatewayId, 'refused', detections.length)
      throw error
    }
    metrics.countDetections(gatewayId, 'stored', detections.length)
  }
}
