/** What gateways detected: intake, incidents, reviews and pictures. */
import type { Sessions } from '../access/sessions.ts'
import { engineOf } from '../database/engine.ts'
import { createSharedCommits } from '../database/shared-commits.ts'
import type { App, Ground } from '../facts/room.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Settings } from '../settings/module.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { createCarryOver } from './carry-over.ts'
import { createClipLinks } from './clip-links.ts'
import { createClips } from './clips.ts'
import { storeBatches, type Batch } from './detections.ts'
import { keepNewestReviews, reviewsAfter } from './gateway-reviews.ts'
import { createIntake } from './intake.ts'
import { detectionPictureRoutes } from './picture-routes.ts'
import { cleanJpeg } from './pictures.ts'
import { createDetectionQuota } from './quota.ts'
import { detectionRoutes } from './routes.ts'
import { createSnapshots } from './snapshots.ts'
import { readThumbnail } from './thumbnails.ts'

export function open(hub: Ground & Settings & Tunnel & { metrics: Metrics; sessions: Sessions }) {
  const { db, config, door } = hub
  const quota = createDetectionQuota(hub)
  const storeDetections = createIntake({
    ...hub,
    requireRoom: hub.watch.requireRoom,
    quota,
    // PostgreSQL combines concurrent commits by itself and does not block this process.
    commit:
      engineOf(config.databaseUrl) === 'sqlite'
        ? createSharedCommits<Batch>((batches) => storeBatches(db, batches))
        : undefined,
  })
  return {
    gives: {
      quota,
      storeDetections,
      cleanJpeg,
      readPicture: (gatewayId: string, detectionId: string) => readThumbnail(db, gatewayId, detectionId),
      reviews: {
        newest: keepNewestReviews(db),
        after: (gatewayId: string, seq: number) => reviewsAfter(db, gatewayId, seq),
      },
    },
    tasks: [quota, createCarryOver(hub)],
    routes(app: App) {
      detectionRoutes(app, hub)
      const snapshots = createSnapshots({ door, monotonic: () => performance.now() })
      detectionPictureRoutes(app, { ...hub, snapshots, clips: createClips(hub), clipLinks: createClipLinks(hub) })
    },
  }
}
