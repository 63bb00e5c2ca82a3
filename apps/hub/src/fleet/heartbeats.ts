/**
 * The last heartbeat of every gateway, in memory, written to the database in one batch every few seconds: ten thousand
 * gateways cost a few writes, and a crash loses at most those seconds. The tunnel API adds heartbeats; statuses read
 * them.
 */
import { heartbeat as heartbeatSchema, type Heartbeat } from '@hedgerow/contract'
import { sql, type Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import { slices } from '../kernel/slices.ts'
import { createTasks } from '../kernel/tasks.ts'

const FLUSH_INTERVAL_MS = 4_000
/** Rows of one statement; requests run between two statements. */
const BATCH_ROWS = 100
/** A boot id that returns after another one shows a second device; the warning stays this long. */
const CLONE_REMEMBERED_MS = 180_000
const BOOT_IDS_KEPT = 4

export type LatestHeartbeat = { at: number; content: Heartbeat; isCloned: boolean }

export type Heartbeats = {
  /** Takes the last heartbeats from the database, then writes newer ones until `stop`. */
  start(): Promise<void>
  record(gatewayId: string, content: Heartbeat): void
  /** Calls `listener` when a heartbeat tells another state of deterrents or of arming than the one before. */
  onDeterrents(listener: (gatewayId: string) => void): void
  latest(gatewayId: string): LatestHeartbeat | undefined
  /** Call it when the gateway was deleted. */
  remove(gatewayId: string): void
  /** Writes everything since the last call. Throws the database's error; then nothing is lost. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type Entry = { at: number; content: Heartbeat; bootIds: string[]; clonedAt: number | undefined }
type Stored = { at: number; text: string }

export function createHeartbeats({
  db,
  clock,
  log,
}: {
  db: Kysely<Tables>
  clock: () => number
  log: Logger
}): Heartbeats {
  const entries = new Map<string, Entry>()
  /** Of an earlier run, not read yet: a hub with a large fleet listens before it has validated them all. */
  const stored = new Map<string, Stored>()
  let unwritten = new Set<string>()
  const listeners: ((gatewayId: string) => void)[] = []
  const tasks = createTasks({ log, name: 'heartbeats', on: 'each hub', failure: 'could not write heartbeats yet' })

  function entryOf(gatewayId: string): Entry | undefined {
    const unread = stored.get(gatewayId)
    if (unread === undefined) return entries.get(gatewayId)
    stored.delete(gatewayId)
    const { data: content } = heartbeatSchema.safeParse(parseJson(unread.text))
    if (content) entries.set(gatewayId, { at: unread.at, content, bootIds: [content.bootId], clonedAt: undefined })
    return entries.get(gatewayId)
  }

  function record(gatewayId: string, content: Heartbeat): void {
    const at = clock()
    const before = entryOf(gatewayId)
    const earlier = before?.bootIds ?? []
    const cameBack = earlier[0] !== content.bootId && earlier.includes(content.bootId)
    const bootIds = [content.bootId, ...earlier.filter((id) => id !== content.bootId)].slice(0, BOOT_IDS_KEPT)
    entries.set(gatewayId, { at, content, bootIds, clonedAt: cameBack ? at : before?.clonedAt })
    unwritten.add(gatewayId)
    if (before && deterrentsOf(before.content) !== deterrentsOf(content))
      for (const listener of listeners) listener(gatewayId)
  }

  async function flush(): Promise<void> {
    const waiting = unwritten
    unwritten = new Set()
    try {
      for await (const ids of slices([...waiting], BATCH_ROWS)) {
        await write(ids)
        for (const id of ids) waiting.delete(id)
      }
    } finally {
      for (const gatewayId of waiting) unwritten.add(gatewayId)
    }
  }

  async function write(gatewayIds: readonly string[]): Promise<void> {
    const values = gatewayIds.flatMap((id) => {
      const entry = entries.get(id)
      if (!entry) return []
      const { at, content } = entry
      const columns = [sql`cast(${id} as text)`, sql`cast(${at} as double precision)`]
      columns.push(sql`cast(${JSON.stringify(content)} as text)`, sql`cast(${content.version} as text)`)
      return [sql`(${sql.join(columns)})`]
    })
    if (values.length === 0) return
    const { rows } = await sql<{ id: string }>`update gateways
      set last_heartbeat_at = told.column2, heartbeat = told.column3, version = told.column4
      from (values ${sql.join(values)}) as told where gateways.id = told.column1 returning gateways.id`.execute(db)
    const found = new Set(rows.map(({ id }) => id))
    for (const id of gatewayIds) if (!found.has(id)) entries.delete(id)
  }

  return {
    async start() {
      const rows = await db.selectFrom('gateways').select(['id', 'last_heartbeat_at', 'heartbeat']).execute()
      for (const { id, last_heartbeat_at: at, heartbeat: text } of rows)
        if (at !== null && text !== null && !entries.has(id)) stored.set(id, { at, text })
      tasks.every(FLUSH_INTERVAL_MS, flush)
    },
    record,
    onDeterrents: (listener) => void listeners.push(listener),
    latest(gatewayId) {
      const entry = entryOf(gatewayId)
      if (!entry) return undefined
      const { at, content, clonedAt } = entry
      return { at, content, isCloned: clonedAt !== undefined && Math.abs(clock() - clonedAt) < CLONE_REMEMBERED_MS }
    },
    remove(gatewayId) {
      stored.delete(gatewayId)
      entries.delete(gatewayId)
      unwritten.delete(gatewayId)
    },
    flush,
    stop: () => tasks.stop(flush),
  }
}

function deterrentsOf({ armed, disarmed, deterrents, snoozes = [] }: Heartbeat): string {
  const each = deterrents.map(({ name, state, blocked }) => `${name} ${state} ${blocked?.code}`)
  return [armed, disarmed?.until, ...each, ...snoozes.map(({ camera, until }) => `${camera} ${until}`)].join('\n')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
