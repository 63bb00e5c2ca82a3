/**
 * The last heartbeat of every gateway, in memory, written to the database in one batch every few seconds: ten thousand
 * gateways cost a few writes, and a crash loses at most the last of those seconds. Fed by the tunnel API; asked by
 * whoever needs a gateway's status.
 */
import { heartbeat as heartbeatSchema, type Heartbeat } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'

const FLUSH_INTERVAL_MS = 4_000
/** A boot id that comes back after another took over is a second device; the finding stands this long. */
const CLONE_REMEMBERED_MS = 180_000
const BOOT_IDS_KEPT = 4

export type KnownHeartbeat = { at: number; content: Heartbeat; isCloned: boolean }

export type Heartbeats = {
  /** Reads the last heartbeats from the database, then writes newer ones until `stop`. */
  start(): Promise<void>
  record(gatewayId: string, content: Heartbeat): void
  latest(gatewayId: string): KnownHeartbeat | undefined
  /** Its gateway was deleted. */
  forget(gatewayId: string): void
  /** Writes what came since the last call; throws what the database threw, and then nothing is lost. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type Entry = { at: number; content: Heartbeat; bootIds: string[]; clonedAt: number | undefined }

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
  let unwritten = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function record(gatewayId: string, content: Heartbeat): void {
    const at = clock()
    const before = entries.get(gatewayId)
    const earlier = before?.bootIds ?? []
    const cameBack = earlier[0] !== content.bootId && earlier.includes(content.bootId)
    const bootIds = [content.bootId, ...earlier.filter((id) => id !== content.bootId)].slice(0, BOOT_IDS_KEPT)
    entries.set(gatewayId, { at, content, bootIds, clonedAt: cameBack ? at : before?.clonedAt })
    unwritten.add(gatewayId)
  }

  async function flush(): Promise<void> {
    const batch = unwritten
    if (batch.size === 0) return
    unwritten = new Set()
    try {
      const gone: string[] = []
      await db.transaction().execute(async (transaction) => {
        for (const gatewayId of batch) {
          const entry = entries.get(gatewayId)
          if (!entry) continue
          const result = await transaction
            .updateTable('gateways')
            .set({
              last_heartbeat_at: entry.at,
              heartbeat: JSON.stringify(entry.content),
              version: entry.content.version,
            })
            .where('id', '=', gatewayId)
            .executeTakeFirst()
          if (result.numUpdatedRows === 0n) gone.push(gatewayId)
        }
      })
      for (const gatewayId of gone) entries.delete(gatewayId)
    } catch (error) {
      for (const gatewayId of batch) unwritten.add(gatewayId)
      throw error
    }
  }

  function flushInTurn(): void {
    writing = writing
      .then(flush)
      .catch((error: unknown) => log.warn({ err: error }, 'heartbeats could not be written yet'))
  }

  return {
    async start() {
      const rows = await db.selectFrom('gateways').select(['id', 'last_heartbeat_at', 'heartbeat']).execute()
      for (const row of rows) {
        const content = heartbeatSchema.safeParse(parseJson(row.heartbeat))
        if (row.last_heartbeat_at === null || !content.success || entries.has(row.id)) continue
        entries.set(row.id, {
          at: row.last_heartbeat_at,
          content: content.data,
          bootIds: [content.data.bootId],
          clonedAt: undefined,
        })
      }
      timer = setInterval(flushInTurn, FLUSH_INTERVAL_MS).unref()
    },
    record,
    latest(gatewayId) {
      const entry = entries.get(gatewayId)
      if (!entry) return undefined
      const { at, content, clonedAt } = entry
      return { at, content, isCloned: clonedAt !== undefined && clock() - clonedAt < CLONE_REMEMBERED_MS }
    },
    forget(gatewayId) {
      entries.delete(gatewayId)
      unwritten.delete(gatewayId)
    },
    flush,
    async stop() {
      clearInterval(timer)
      flushInTurn()
      await writing
    },
  }
}

function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
