/** Requests for updates: the newest one of each gateway is a row. */
import type { Heartbeat } from '@hedgerow/contract'
import type { Selectable } from 'kysely'
import type { Caller } from '../access/sessions.ts'
import type { Db, Tables } from '../database/tables.ts'
import { actorOf, HUB, record } from '../facts/facts.ts'

export type Release = { version: string; number: number; platforms: readonly string[] }
export type RequestRow = Selectable<Tables['gateway_updates']>
export type By = { caller: Caller; sourceIp: string }

/** Whether it runs a release that it can replace by this one. */
export function canUpdate(content: Heartbeat | undefined, release: Release | undefined): boolean {
  const runs = content?.release
  return !!runs && !!release && release.platforms.includes(runs.platform) && runs.number < release.number
}

/** Without `by`, the request is one of the automatic updates. */
export async function putRequest(
  db: Db,
  gateway: { id: string; name: string },
  release: Release,
  { by, now }: { by: By | undefined; now: number },
): Promise<void> {
  const before = await db
    .selectFrom('gateway_updates')
    .select('attempt')
    .where('gateway_id', '=', gateway.id)
    .executeTakeFirst()
  const row = {
    number: release.number,
    version: release.version,
    // Greater than any earlier one, also after the clock was set back.
    attempt: Math.max(now, (before?.attempt ?? 0) + 1),
    by_name: by?.caller.username ?? null,
    state: 'asked' as const,
    message: '',
    asked_at: now,
    ended_at: null,
    held_at: null,
  }
  await db
    .insertInto('gateway_updates')
    .values({ gateway_id: gateway.id, ...row })
    .onConflict((conflict) => conflict.column('gateway_id').doUpdateSet(row))
    .execute()
  await record(db, {
    kind: 'update.asked',
    at: now,
    actor: by ? actorOf(by) : HUB,
    target: gateway.id,
    gatewayId: gateway.id,
    data: { gatewayName: gateway.name, version: release.version },
  })
}

/** The outcome of a request by the gateway's last report; undefined while it goes on. */
export function endOf(row: RequestRow, content: Heartbeat | undefined, release: Release | undefined) {
  if (content?.release && content.release.number >= row.number && content.update?.state !== 'trying')
    return { state: 'done' as const, message: '' }
  if (content?.update?.state === 'failed' && content.update.attempt === row.attempt)
    return { state: 'failed' as const, message: content.update.message }
  if (release && release.number !== row.number && row.state === 'asked')
    return { state: 'failed' as const, message: `The hub hands out ${release.version} now.` }
  return undefined
}

const WORDS = { waiting: 'Waits', fetching: 'Fetches it', trying: 'Tries it', failed: 'Failed' }

/** What the gateway reported about this request; empty before its first report. */
export function progressOf({ attempt }: RequestRow, content: Heartbeat | undefined): string {
  const told = content?.update?.attempt === attempt ? content.update : undefined
  return told ? [WORDS[told.state], told.message].filter(Boolean).join(': ') : ''
}
