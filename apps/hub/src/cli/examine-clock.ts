import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sql, type Kysely } from 'kysely'
import type { Config } from '../config.ts'
import { engineOf } from '../database/engine.ts'
import type { Tables } from '../database/tables.ts'
import type { Finding } from './finding.ts'

const CLOCK_TOLERANCE_MS = 30_000
const ANSWER_TIMEOUT_MS = 5_000

/**
 * Compares with PostgreSQL's clock and with what the hub wrote: its last look at the clock, or else its newest entry,
 * may not be in the future. An older entry may: the clock was ahead once, and was set right since.
 */
export async function examineClock(db: Kysely<Tables>, { databaseUrl }: Config): Promise<Finding> {
  const remedy = 'Set the clock and keep it right, with timedatectl set-ntp true for example.'
  const fail = (text: string): Finding => ({ check: 'clock', state: 'FAIL', text, remedy })
  const isAhead = (at: number | undefined) => at !== undefined && at - Date.now() > CLOCK_TOLERANCE_MS
  if (engineOf(databaseUrl) === 'postgres') {
    const { rows } = await sql<{ now: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::double precision as now`.execute(db)
    const offMs = Date.now() - (rows[0]?.now ?? Number.NaN)
    if (Math.abs(offMs) > CLOCK_TOLERANCE_MS)
      return fail(`this machine's clock is ${Math.round(offMs / 1_000)} s off the one of PostgreSQL`)
  }
  const now = new Date().toISOString()
  const entries = db.selectFrom('audit').select('at').limit(1)
  const newest = await entries.orderBy('id', 'desc').executeTakeFirst()
  const seen = await db.selectFrom('hub_clock').select('seen_at').executeTakeFirst()
  const last = seen?.seen_at ?? newest?.at
  if (isAhead(last))
    return {
      ...fail(`the clock says ${now}, but the hub has written at ${new Date(last!).toISOString()}`),
      remedy: `${remedy} If it is right, it was ahead: the hub forgets that at its next start.`,
    }
  const latest = await entries.orderBy('at', 'desc').executeTakeFirst()
  if (!isAhead(latest?.at)) return { check: 'clock', state: 'ok', text: now }
  const text = `${now}; it was ahead once: entries say ${new Date(latest!.at).toISOString()}`
  if (engineOf(databaseUrl) === 'postgres' || (await isSynchronized())) return { check: 'clock', state: 'ok', text }
  return {
    check: 'clock',
    state: 'warn',
    text: `${text}, or it is behind now`,
    remedy: 'Compare it with another clock. Synchronize it, with timedatectl set-ntp true for example.',
  }
}

/** Whether systemd says that this machine's clock follows one of the network. */
async function isSynchronized(): Promise<boolean> {
  const answer = promisify(execFile)('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
    timeout: ANSWER_TIMEOUT_MS,
  })
  return answer.then(
    ({ stdout }) => stdout.trim() === 'yes',
    () => false,
  )
}
