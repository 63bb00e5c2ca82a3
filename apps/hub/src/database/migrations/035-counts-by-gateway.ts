import { sql, type Kysely } from 'kysely'
import type { Engine } from '../engine.ts'

const HOUR_MS = 3_600_000
/** More than the charts show. */
const COUNTED_MS = 48 * HOUR_MS

/**
 * Threats and firings of each hour are counted for each gateway instead of each owner: counted anew from what is stored
 * of the last hours. The counts of the whole fleet stay.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await sql`delete from hourly_stats where scope <> 'fleet'`.execute(db)
  const newest = (await sql<{ hour: number | null }>`select max(hour) as hour from hourly_stats`.execute(db)).rows[0]
  const from = Number(newest?.hour ?? 0) - COUNTED_MS
  const hour =
    engine === 'postgres'
      ? sql`floor(started_at / ${sql.lit(HOUR_MS)}) * ${sql.lit(HOUR_MS)}`
      : sql`started_at - started_at % ${sql.lit(HOUR_MS)}`
  await sql`insert into hourly_stats (hour, scope, active_connections, threats)
    select ${hour}, gateway_id, 0, count(*) from detections
    where severity = 'alert' and suppressed = 0 and started_at >= ${sql.lit(from)}
    group by 1, 2`.execute(db)

  const ledger = await sql<{ gateway_id: string; at: number; received_at: number; entry: string }>`
    select gateway_id, at, received_at, entry from ledger where received_at >= ${sql.lit(from)}`.execute(db)
  const firings = new Map<string, number>()
  for (const { gateway_id, at, received_at, entry } of ledger.rows) {
    if ((JSON.parse(entry) as { kind?: string }).kind !== 'fired') continue
    const firedAt = Math.min(at, received_at)
    const key = `${firedAt - (firedAt % HOUR_MS)} ${gateway_id}`
    firings.set(key, (firings.get(key) ?? 0) + 1)
  }
  for (const [key, count] of firings) {
    const [at = '', gateway = ''] = key.split(' ')
    await sql`insert into hourly_stats (hour, scope, active_connections, threats, firings)
      values (${Number(at)}, ${gateway}, 0, 0, ${count})
      on conflict (hour, scope) do update set firings = excluded.firings`.execute(db)
  }
}
