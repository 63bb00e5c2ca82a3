/**
 * How many detections, and how many bytes of them, the hub accepts from each gateway in an hour: one bucket each, with
 * an hour's amount. A call is accepted whole while both buckets hold something, so that no setting is too small for a
 * call; later calls wait for the excess. Refusals are counted, stored and explained.
 */
import type { HubSettings } from '@hedgerow/contract'
import { sql, type Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { RefusalReason, Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createTasks } from '../kernel/tasks.ts'

const HOUR_MS = 3_600_000
const SLOT_MS = 300_000
const FLUSH_INTERVAL_MS = 10_000
const BATCH_ROWS = 100
const BYTES_PER_MEGABYTE = 1_000_000

type Limits = Pick<HubSettings, 'detectionsPerHour' | 'detectionMegabytesPerHour'>
type Bucket = { detections: number; bytes: number; at: number }
type Refused = { gateway_id: string; at: number; reason: RefusalReason; detections: number }

export type Refusals = {
  /** Number of detections in the last hour. */
  detections: number
  /** The time of the last refusal. */
  at: number
  /** The number and reason, for the gateway's page. */
  message: string
}

export type DetectionQuota = {
  /**
   * Takes a call's detections while detections and bytes are left. Throws `detections_over_quota` and counts the
   * detections as refused.
   */
  take(gatewayId: string, detections: number, limits: Limits): void
  /** Charges the bytes of an accepted call. */
  charge(gatewayId: string, bytes: number): void
  countRefused(gatewayId: string, detections: number, reason: RefusalReason): void
  /** Undefined when there were none in the last hour. `limits` are the current ones. */
  refusals(gatewayId: string): Refusals | undefined
  remove(gatewayId: string): void
  /** Reads the last hour, then writes refusals until `stop`. */
  start(): Promise<void>
  flush(): Promise<void>
  stop(): Promise<void>
}

export function createDetectionQuota({
  db,
  clock,
  log,
}: {
  db: Kysely<Tables>
  clock: () => number
  log: Logger
}): DetectionQuota {
  const buckets = new Map<string, Bucket>()
  const notices = new Map<string, { slots: Refused[]; at: number; reason: string }>()
  const unwritten = new Set<Refused>()
  const tasks = createTasks({
    log,
    name: 'detection-quota',
    on: 'each hub',
    failure: 'could not write refused detections yet',
  })

  function bucketOf(gatewayId: string, limits: Limits, now: number): Bucket {
    const full = { detections: limits.detectionsPerHour, bytes: limits.detectionMegabytesPerHour * BYTES_PER_MEGABYTE }
    const before = buckets.get(gatewayId) ?? { ...full, at: now }
    // A clock that was set back neither adds nor removes tokens.
    const share = Math.max(0, now - before.at) / HOUR_MS
    const bucket = {
      detections: Math.min(full.detections, before.detections + share * full.detections),
      bytes: Math.min(full.bytes, before.bytes + share * full.bytes),
      at: now,
    }
    buckets.set(gatewayId, bucket)
    return bucket
  }

  function countRefused(gatewayId: string, detections: number, reason: RefusalReason, words = WORDS[reason]): void {
    const now = clock()
    const at = now - (now % SLOT_MS)
    const notice = notices.get(gatewayId) ?? { slots: [], at: now, reason: words }
    notice.slots = notice.slots.filter((slot) => slot.at > now - HOUR_MS)
    let slot = notice.slots.find((one) => one.at === at && one.reason === reason)
    if (!slot) notice.slots.push((slot = { gateway_id: gatewayId, at, reason, detections: 0 }))
    slot.detections += detections
    unwritten.add(slot)
    notices.set(gatewayId, { slots: notice.slots, at: now, reason: words })
  }

  async function flush(): Promise<void> {
    const waiting = [...unwritten]
    while (waiting.length > 0) {
      const batch = waiting.splice(-BATCH_ROWS)
      for (const slot of batch) unwritten.delete(slot)
      try {
        await db
          .insertInto('detection_refusals')
          .values(batch)
          .onConflict((conflict) =>
            conflict
              .columns(['gateway_id', 'at', 'reason'])
              .doUpdateSet({ detections: sql<number>`excluded.detections` }),
          )
          .execute()
      } catch (error) {
        for (const slot of batch) unwritten.add(slot)
        throw error
      }
    }
  }

  return {
    take(gatewayId, detections, limits) {
      const bucket = bucketOf(gatewayId, limits, clock())
      const isOverRate = bucket.detections < 1
      if (!isOverRate && bucket.bytes >= 1) {
        bucket.detections -= detections
        return
      }
      const reason = isOverRate ? 'rate' : 'bytes'
      const words = isOverRate
        ? `over ${limits.detectionsPerHour.toLocaleString('en')} an hour`
        : `over ${limits.detectionMegabytesPerHour.toLocaleString('en')} MB an hour`
      countRefused(gatewayId, detections, reason, words)
      const missing = Math.max(
        (1 - bucket.detections) / limits.detectionsPerHour,
        (1 - bucket.bytes) / (limits.detectionMegabytesPerHour * BYTES_PER_MEGABYTE),
      )
      throw new HubError('detections_over_quota', { retryAfterMs: missing * HOUR_MS })
    },
    charge(gatewayId, bytes) {
      const bucket = buckets.get(gatewayId)
      if (bucket) bucket.bytes -= bytes
    },
    countRefused: (gatewayId, detections, reason) => countRefused(gatewayId, detections, reason),
    refusals(gatewayId) {
      const notice = notices.get(gatewayId)
      const since = clock() - HOUR_MS
      const detections = notice?.slots.reduce((sum, slot) => sum + (slot.at > since ? slot.detections : 0), 0) ?? 0
      return notice && detections > 0
        ? { detections, at: notice.at, message: inWords(detections, notice.reason) }
        : undefined
    },
    remove(gatewayId) {
      buckets.delete(gatewayId)
      for (const slot of notices.get(gatewayId)?.slots ?? []) unwritten.delete(slot)
      notices.delete(gatewayId)
    },
    async start() {
      const rows = await db
        .selectFrom('detection_refusals')
        .selectAll()
        .where('at', '>', clock() - HOUR_MS)
        .orderBy('at')
        .execute()
      for (const row of rows) {
        const notice = notices.get(row.gateway_id)
        const slots = [...(notice?.slots ?? []), row]
        notices.set(row.gateway_id, { slots, at: row.at, reason: WORDS[row.reason] })
      }
      tasks.every(FLUSH_INTERVAL_MS, flush)
    },
    flush,
    stop: () => tasks.stop(flush),
  }
}

const WORDS: Readonly<Record<RefusalReason, string>> = {
  rate: 'more than the settings allow in an hour',
  bytes: 'more megabytes than the settings allow in an hour',
  storage: "the hub's disk is nearly full",
}

function inWords(detections: number, reason: string): string {
  const counted = `${detections.toLocaleString('en')} ${detections === 1 ? 'detection' : 'detections'}`
  return `Refused ${counted} in the last hour: ${reason}`
}
