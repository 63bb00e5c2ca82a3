/**
 * Leaps of the clock: it is set ahead by a day or more, or was wrong before. Rows then look too old, and a deleted row
 * never comes back, so nothing is deleted by age until the hub has run for a day. The last time of the clock is stored
 * in the database, so a leap while the hub was down counts too.
 */
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Db, Tables } from './tables.ts'

const DAY_MS = 86_400_000
const LEAP_MS = DAY_MS
const HOLD_MS = DAY_MS

/**
 * The longest wait of any message, cool-down or step of the hub. A time further ahead was written while the clock was
 * wrong, and counts as past.
 */
export const LONGEST_WAIT_MS = 3 * DAY_MS

/** `uptime` is a clock that nobody sets, in milliseconds. */
export function createLeapWatch({
  db,
  clock,
  log,
  uptime,
}: {
  db: Kysely<Tables>
  clock: () => number
  log: Logger
  uptime: () => number
}) {
  let lookedAtUptimeMs: number | undefined

  async function lastWritten(): Promise<number | undefined> {
    const newest = db.selectFrom('activity').select('at').orderBy('at', 'desc').orderBy('id', 'desc').limit(1)
    return (await newest.executeTakeFirst())?.at
  }

  return {
    /** Looks at the clock, and tells whether deleting has to wait. */
    async look(): Promise<boolean> {
      const now = clock()
      const stored = await db.selectFrom('hub_clock').select(['seen_at', 'hold_ms']).executeTakeFirst()
      const before = stored?.seen_at ?? (await lastWritten()) ?? now
      const passedMs = lookedAtUptimeMs === undefined ? 0 : uptime() - lookedAtUptimeMs
      lookedAtUptimeMs = uptime()
      const isLeap = now - before - passedMs >= LEAP_MS
      const holdMs = isLeap ? HOLD_MS : Math.max(0, (stored?.hold_ms ?? 0) - passedMs)
      if (isLeap)
        log.warn('the clock has jumped ahead since this hub last checked it: nothing old is deleted for a day')
      await db
        .insertInto('hub_clock')
        .values({ id: 1, seen_at: now, hold_ms: holdMs })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now, hold_ms: holdMs }))
        .execute()
      return holdMs > 0
    },
  }
}

/**
 * Whether ages are uncertain because of a leap of the clock less than a day of running ago, including one that the
 * watch has not seen yet.
 */
export async function isAfterLeap(db: Db, now: number): Promise<boolean> {
  const stored = await db.selectFrom('hub_clock').select(['seen_at', 'hold_ms']).executeTakeFirst()
  return stored !== undefined && (stored.hold_ms > 0 || now - stored.seen_at >= LEAP_MS)
}
