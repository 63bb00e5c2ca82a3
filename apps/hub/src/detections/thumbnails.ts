/** The thumbnails of detections as bytes, in a table of their own, so that lists never read them. */
import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { cleanJpeg } from './pictures.ts'

/** `pictures` are the gateway's, by detection. */
type GatewayPictures = { gatewayId: string; pictures: ReadonlyMap<string, Buffer> }

export async function storeThumbnails(
  transaction: Transaction<Tables>,
  gateways: readonly GatewayPictures[],
): Promise<void> {
  const rows = gateways.flatMap(({ gatewayId, pictures }) =>
    [...pictures].map(([id, jpeg]) => ({ gateway_id: gatewayId, detection_id: id, jpeg })),
  )
  if (rows.length === 0) return
  await transaction
    .insertInto('thumbnails')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['gateway_id', 'detection_id']).doUpdateSet((row) => ({ jpeg: row.ref('excluded.jpeg') })),
    )
    .execute()
}

export type Thumbnail = { jpeg: Buffer; etag: string }

/** Throws `detection_not_found` when there is none. */
export async function readThumbnail(db: Db, gatewayId: string, id: string): Promise<Thumbnail> {
  const [found] = await readThumbnails(db, [{ gatewayId, id }])
  if (!found) throw new HubError('detection_not_found')
  const { jpeg } = found
  return { jpeg, etag: `"${createHash('sha256').update(jpeg).digest('base64url').slice(0, 22)}"` }
}

type Key = { gatewayId: string; id: string }

/** The pictures that exist, in no order. */
export async function readThumbnails(db: Db, keys: readonly Key[]): Promise<(Key & { jpeg: Buffer })[]> {
  if (keys.length === 0) return []
  const rows = await db
    .selectFrom('thumbnails')
    .select(['gateway_id', 'detection_id', 'jpeg'])
    .where((eb) => eb.or(keys.map(({ gatewayId, id }) => eb.and({ gateway_id: gatewayId, detection_id: id }))))
    .execute()
  const found = rows.map((row) => ({ gatewayId: row.gateway_id, id: row.detection_id, jpeg: Buffer.from(row.jpeg) }))
  const missing = keys.filter((key) => !found.some(({ gatewayId, id }) => gatewayId === key.gatewayId && id === key.id))
  return [...found, ...(await readFormer(db, missing))]
}

/** Reads thumbnails that are not carried over yet. */
async function readFormer(db: Db, keys: readonly Key[]): Promise<(Key & { jpeg: Buffer })[]> {
  if (keys.length === 0) return []
  const rows = await db
    .selectFrom('detections')
    .select(['gateway_id', 'id', 'thumbnail'])
    .where((eb) => eb.or(keys.map(({ gatewayId, id }) => eb.and({ gateway_id: gatewayId, id }))))
    .where('thumbnail', 'is not', null)
    .execute()
  const found: (Key & { jpeg: Buffer })[] = []
  for (const { gateway_id: gatewayId, id, thumbnail } of rows) {
    const jpeg = await cleanJpeg(gatewayId, Buffer.from(thumbnail ?? '', 'base64'))
    if (jpeg) found.push({ gatewayId, id, jpeg })
  }
  return found
}
