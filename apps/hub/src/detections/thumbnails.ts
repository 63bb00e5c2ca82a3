/** The thumbnails of detections as bytes, in a table of their own, so that lists never read them. */
import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { cleanJpeg } from './pictures.ts'

export async function storeThumbnails(
  transaction: Transaction<Tables>,
  gatewayId: string,
  pictures: ReadonlyMap<string, Buffer>,
): Promise<void> {
  if (pictures.size === 0) return
  await transaction
    .insertInto('thumbnails')
    .values([...pictures].map(([id, jpeg]) => ({ gateway_id: gatewayId, detection_id: id, jpeg })))
    .onConflict((conflict) =>
      conflict.columns(['gateway_id', 'detection_id']).doUpdateSet((row) => ({ jpeg: row.ref('excluded.jpeg') })),
    )
    .execute()
}

export type Thumbnail = { jpeg: Buffer; etag: string }

/** Throws `detection_not_found` when there is none. */
export async function readThumbnail(db: Db, gatewayId: string, id: string): Promise<Thumbnail> {
  const row = await db
    .selectFrom('thumbnails')
    .select('jpeg')
    .where('gateway_id', '=', gatewayId)
    .where('detection_id', '=', id)
    .executeTakeFirst()
  const jpeg = row ? Buffer.from(row.jpeg) : await readFormer(db, gatewayId, id)
  if (!jpeg) throw new HubError('detection_not_found')
  return { jpeg, etag: `"${createHash('sha256').update(jpeg).digest('base64url').slice(0, 22)}"` }
}

/** Reads a thumbnail that is not carried over yet. */
async function readFormer(db: Db, gatewayId: string, id: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('detections')
    .select('thumbnail')
    .where('gateway_id', '=', gatewayId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.thumbnail ? cleanJpeg(gatewayId, Buffer.from(row.thumbnail, 'base64')) : undefined
}
