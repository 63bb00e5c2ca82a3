/**
 * The charts of a gateway's page: load and traffic by the hour. Heartbeats and tunnel counters are summed in memory and
 * written to one row for each gateway and hour, once a minute and in small batches: a chart costs one short index scan,
 * and ten thousand gateways a few statements. A crash loses that minute. retention/retention.ts deletes old hours.
 */
import { LOAD_MAX, TEMPERATURE_MAX, TEMPERATURE_MIN, type GatewayHour, type Heartbeat } from '@hedgerow/contract'
import { sql, type Kysely, type Selectable } from 'kysely'
import type { Logger } from 'pino'
import { startOfHour } from '../database/hourly-stats.ts'
import type { Tables } from '../database/tables.ts'
import { slices } from '../kernel/slices.ts'
import { createTasks } from '../kernel/tasks.ts'
import type { Vpn } from '../tunnel/tunnel.ts'

const HOUR_MS = 3_600_000
const FLUSH_INTERVAL_MS = 60_000
const BATCH_ROWS = 100

type Row = Selectable<Tables['gateway_hours']>
const MAXIMA = ['load_max', 'memory_max', 'disk_max', 'temperature_max'] as const
const SUMS = [
  'heartbeats',
  'load_sum',
  'memory_sum',
  'disk_sum',
  'temperatures',
  'temperature_sum',
  'received_bytes',
  'sent_bytes',
] as const
/** Lower than any temperature that a heartbeat may hold. */
const NO_TEMPERATURE = -1_000
/**
 * The largest sum that counts, because an older hub may have stored any: PostgreSQL refuses an addition beyond its
 * range, and with it the whole batch.
 */
const SUM_MAX = 1e15

export type History = {
  start(): void
  record(gatewayId: string, content: Heartbeat): void
  /** Writes everything since the last call. Throws the database's error; then nothing is lost. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export function createHistory({
  db,
  vpn,
  clock,
  log,
}: {
  db: Kysely<Tables>
  vpn: Pick<Vpn, 'traffic'>
  clock: () => number
  log: Logger
}): History {
  const unwritten = new Map<string, Row>()
  /** The counters of each peer at the last look: they restart with the tunnel. */
  let counted: ReturnType<Vpn['traffic']> = new Map()
  const tasks = createTasks({ log, name: 'history', on: 'each hub', failure: 'the history could not be written yet' })

  function add(gatewayId: string, hour: number, change: Partial<Row>): void {
    const key = `${hour} ${gatewayId}`
    const row = unwritten.get(key) ?? emptyRow(gatewayId, hour)
    for (const sum of SUMS) row[sum] += change[sum] ?? 0
    for (const maximum of MAXIMA) row[maximum] = Math.max(row[maximum], change[maximum] ?? row[maximum])
    unwritten.set(key, row)
  }

  async function countTraffic(idByKey: ReadonlyMap<string, string>): Promise<void> {
    const hour = startOfHour(clock())
    const former = counted
    counted = vpn.traffic()
    for await (const some of slices([...counted]))
      for (const [publicKey, { receivedBytes, sentBytes }] of some) {
        const before = former.get(publicKey)
        const isContinued = before && receivedBytes >= before.receivedBytes && sentBytes >= before.sentBytes
        const received_bytes = receivedBytes - (isContinued ? before.receivedBytes : 0)
        const sent_bytes = sentBytes - (isContinued ? before.sentBytes : 0)
        const gatewayId = idByKey.get(publicKey)
        if (gatewayId !== undefined && received_bytes + sent_bytes > 0)
          add(gatewayId, hour, { received_bytes, sent_bytes })
      }
  }

  async function flush(): Promise<void> {
    const gateways = await db.selectFrom('gateways').select(['id', 'wireguard_public_key']).execute()
    await countTraffic(new Map(gateways.map((row) => [row.wireguard_public_key, row.id])))
    const ids = new Set(gateways.map(({ id }) => id))
    const rows = new Set(unwritten.values())
    unwritten.clear()
    try {
      for await (const batch of slices([...rows], BATCH_ROWS)) {
        const there = batch.filter((row) => ids.has(row.gateway_id))
        if (there.length > 0) await upsert(db, there)
        for (const row of batch) rows.delete(row)
      }
    } finally {
      for (const { gateway_id, hour, ...change } of rows) add(gateway_id, hour, change)
    }
  }

  return {
    start() {
      counted = vpn.traffic()
      tasks.every(FLUSH_INTERVAL_MS, flush)
    },
    record(gatewayId, { load, memory, disk, temperature }) {
      add(gatewayId, startOfHour(clock()), {
        heartbeats: 1,
        load_sum: load,
        load_max: load,
        memory_sum: memory,
        memory_max: memory,
        disk_sum: disk,
        disk_max: disk,
        ...(temperature !== null && { temperatures: 1, temperature_sum: temperature, temperature_max: temperature }),
      })
    },
    flush,
    stop: () => tasks.stop(flush),
  }
}

/** The last `hours` hours, oldest first, the current one last. */
export async function readHistory(
  db: Kysely<Tables>,
  gatewayId: string,
  { hours, now }: { hours: number; now: number },
): Promise<GatewayHour[]> {
  const newest = startOfHour(now)
  const oldest = newest - (hours - 1) * HOUR_MS
  const rows = await db
    .selectFrom('gateway_hours')
    .selectAll()
    .where('gateway_id', '=', gatewayId)
    .where('hour', '>=', oldest)
    .where('hour', '<=', newest)
    .execute()
  const byHour = new Map(rows.map((row) => [row.hour, row]))
  return Array.from({ length: hours }, (_, i) => {
    const hour = oldest + i * HOUR_MS
    return present(byHour.get(hour) ?? emptyRow(gatewayId, hour))
  })
}

function present(row: Row): GatewayHour {
  /** Null also for a value that no heartbeat may hold: older hubs stored such values. */
  const span = (sum: number, max: number, count: number, [least, most]: readonly [number, number]) => {
    const mean = sum / count
    const isTold = count > 0 && [mean, max].every((value) => value >= least && value <= most)
    return isTold ? { mean, max } : null
  }
  return {
    hour: new Date(row.hour).toISOString(),
    heartbeats: row.heartbeats,
    load: span(row.load_sum, row.load_max, row.heartbeats, [0, LOAD_MAX]),
    memory: span(row.memory_sum, row.memory_max, row.heartbeats, [0, 1]),
    disk: span(row.disk_sum, row.disk_max, row.heartbeats, [0, 1]),
    temperature: span(row.temperature_sum, row.temperature_max, row.temperatures, [TEMPERATURE_MIN, TEMPERATURE_MAX]),
    receivedBytes: row.received_bytes,
    sentBytes: row.sent_bytes,
  }
}

function emptyRow(gatewayId: string, hour: number): Row {
  return {
    gateway_id: gatewayId,
    hour,
    heartbeats: 0,
    load_sum: 0,
    load_max: 0,
    memory_sum: 0,
    memory_max: 0,
    disk_sum: 0,
    disk_max: 0,
    temperatures: 0,
    temperature_sum: 0,
    temperature_max: NO_TEMPERATURE,
    received_bytes: 0,
    sent_bytes: 0,
  }
}

async function upsert(db: Kysely<Tables>, rows: Row[]): Promise<void> {
  const added = SUMS.map((name) => {
    const before = sql`gateway_hours.${sql.ref(name)}`
    const [least, most] = [sql.lit(-SUM_MAX), sql.lit(SUM_MAX)]
    const bounded = sql`case when ${before} between ${least} and ${most} then ${before} else 0 end`
    return [name, sql<number>`${bounded} + excluded.${sql.ref(name)}`]
  })
  const raised = MAXIMA.map((name) => {
    const [before, now] = [sql`gateway_hours.${sql.ref(name)}`, sql`excluded.${sql.ref(name)}`]
    return [name, sql<number>`case when ${now} > ${before} then ${now} else ${before} end`]
  })
  await db
    .insertInto('gateway_hours')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['gateway_id', 'hour']).doUpdateSet(Object.fromEntries([...added, ...raised])),
    )
    .execute()
}
