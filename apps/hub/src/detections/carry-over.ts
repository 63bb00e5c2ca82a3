/**
 * Moves thumbnails of an earlier version, base64 in their detection's row, to the table of thumbnails: a few at a time
 * with pauses, while everything else goes on. A thumbnail that is no JPEG is deleted: no browser could show it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { createTasks } from '../kernel/tasks.ts'
import { addToTotals } from './detections.ts'
import { recount } from './incidents.ts'
import { cleanJpeg } from './pictures.ts'

const ROWS_AT_ONCE = 20
const PAUSE_MS = 20

export function createCarryOver({ db, log }: { db: Kysely<Tables>; log: Logger }) {
  const stopping = new AbortController()
  const failure = 'thumbnails of an older version could not be moved: the next start continues'
  const tasks = createTasks({ log, name: 'carry-over', on: 'one hub', failure })
  return {
    start: () => void tasks.run(() => carryOverThumbnails(db, log, stopping.signal)),
    stop() {
      stopping.abort()
      return tasks.stop()
    },
  }
}

/** Resolves when none are left, or `signal` is aborted. */
async function carryOverThumbnails(db: Kysely<Tables>, log: Logger, signal: AbortSignal): Promise<void> {
  let moved = 0
  let dropped = 0
  while (!signal.aborted) {
    const rows = await db
      .selectFrom('detections')
      .select(['gateway_id', 'id', 'thumbnail', 'incident_id'])
      .where('thumbnail', 'is not', null)
      .limit(ROWS_AT_ONCE)
      .execute()
    for (const { gateway_id: gatewayId, id, thumbnail, incident_id: incidentId } of rows) {
      if (signal.aborted) break
      if (thumbnail === null) continue
      const jpeg = await cleanJpeg(gatewayId, Buffer.from(thumbnail, 'base64'))
      await inTransaction(db, async (transaction) => {
        const updated = await transaction
          .updateTable('detections')
          .set({ thumbnail: null, thumbnail_bytes: jpeg?.length ?? null })
          .where('gateway_id', '=', gatewayId)
          .where('id', '=', id)
          .where('thumbnail', 'is not', null)
          .executeTakeFirst()
        // The gateway sent a newer one meanwhile.
        if (updated.numUpdatedRows === 0n) return
        if (jpeg)
          await transaction.insertInto('thumbnails').values({ gateway_id: gatewayId, detection_id: id, jpeg }).execute()
        else if (incidentId !== null) await recount(transaction, [incidentId])
        await addToTotals(transaction, [{ gatewayId, detections: 0, bytes: (jpeg?.length ?? 0) - thumbnail.length }])
      })
      if (jpeg) moved += 1
      else dropped += 1
    }
    if (rows.length < ROWS_AT_ONCE) break
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
  if (moved + dropped > 0) log.info({ moved, dropped }, 'thumbnails were moved to a table of their own')
}
