/** Reviews of this device's detections, from the hub: kept in the record, for learning on the device. */
import type { DatabaseSync } from 'node:sqlite'
import { gatewayReview, type GatewayReview } from '@hedgerow/contract'

export type Reviews = {
  /**
   * Stores the hub's reviews for this device as `gatewayId`, all or none. The latest review of a detection counts: a
   * lower `seq` than the known one changes nothing.
   */
  put(gatewayId: string, reviews: readonly GatewayReview[]): void
  /** The highest stored `seq` for this device as `gatewayId`, or 0. */
  newest(gatewayId: string): number
  find(detectionId: string): GatewayReview | undefined
  /** In order of `seq`; a review with the verdict null was withdrawn. */
  all(): GatewayReview[]
}

const REVIEWS_MAX = 20_000

/** No foreign key: a detection may be deleted from the record before its review. */
export const REVIEW_TABLES = `
  create table if not exists reviews (
    detection text primary key, gateway_id text not null, seq integer not null, verdict text, label text,
    at integer not null
  ) strict;
  create index if not exists reviews_by_seq on reviews (gateway_id, seq);
  create index if not exists reviews_by_time on reviews (at);
`

export function createReviews(database: DatabaseSync, transact: (action: () => void) => void): Reviews {
  const insert = database.prepare(
    `insert into reviews (detection, gateway_id, seq, verdict, label, at) values (?, ?, ?, ?, ?, ?)
     on conflict (detection) do update set gateway_id = excluded.gateway_id, seq = excluded.seq,
       verdict = excluded.verdict, label = excluded.label, at = excluded.at
     where excluded.gateway_id <> gateway_id or excluded.seq > seq`,
  )
  const selectNewest = database.prepare('select max(seq) as seq from reviews where gateway_id = ?')
  const select = database.prepare('select seq, detection, verdict, label, at from reviews where detection = ?')
  const selectAll = database.prepare('select seq, detection, verdict, label, at from reviews order by at, seq')
  const deleteOldest = database.prepare(
    `delete from reviews where detection in (
       select detection from reviews order by at desc, seq desc limit -1 offset ${REVIEWS_MAX})`,
  )

  return {
    put(gatewayId, reviews) {
      transact(() => {
        for (const { detection, seq, verdict, label, at } of reviews)
          insert.run(detection, gatewayId, seq, verdict, label, at)
        deleteOldest.run()
      })
    },
    newest: (gatewayId) => Number(selectNewest.get(gatewayId)?.['seq'] ?? 0),
    find(detectionId) {
      const row = select.get(detectionId)
      return row && gatewayReview.parse(row)
    },
    all: () => selectAll.all().map((row) => gatewayReview.parse(row)),
  }
}
