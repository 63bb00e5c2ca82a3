/** Requests for updates: the newest one of each gateway is a row. */
import type { Heartbeat } from '@hedgerow/contract'
import type { Selectable } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { by, HUB, nameOf, record, type Act } from '../facts/facts.ts'
import { duration } from '../kernel/duration.ts'

export type Release = { version: string; number: number; platforms: readonly string[] }
export type RequestRow = Selectable<Tables['gateway_updates']>

/** Whether it runs a release that it can replace by this one. */
export function canUpdate(content: Heartbeat | undefined, release: Release | undefined): boolean {
  const runs = content?.release
  return !!runs && !!release && release.platforms.includes(runs.platform) && runs.number < release.number
}

/** Without an actor, the request is one of the automatic updates. */
export async function putRequest(
  db: Db,
  gateway: { id: string; name: string },
  release: Release,
  act: Act | { now: number },
): Promise<void> {
  const { now } = act
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
    by_name: 'actor' in act ? nameOf(act.actor) : null,
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
    ...('actor' in act ? by(act) : { at: now, actor: HUB }),
    target: gateway.id,
    gatewayId: gateway.id,
    data: { gatewayName: gateway.name, version: release.version },
  })
}

/** The last heartbeat, and when it came. */
export type Heard = { at: number; content: Heartbeat }

/** A gateway that was heard from this long ago is there. */
export const HEARD_WITHIN_MS = 120_000
/** As long as agents keep a version on trial. An older agent confirms one by its first heartbeat. */
const TRIAL_SECONDS = 600
/** More restarts in an hour are a trouble. */
const RESTARTS_MAX = 2

/** Why a gateway does not run a release well, to follow its name; undefined when it does. */
export function whyUnwell(number: number, heard: Heard | undefined, now: number): string | undefined {
  if (!heard) return 'was not heard from'
  const { at, content } = heard
  if (now - at > HEARD_WITHIN_MS) return `has been silent for ${duration(now - at)}`
  if (!content.release || content.release.number < number) return `runs version ${content.version}`
  const { lastHour = 0 } = content.restarts ?? {}
  if (lastHour > RESTARTS_MAX) return `restarted ${lastHour} times in the last hour`
  if (content.uptimeSeconds < TRIAL_SECONDS) return `has run for only ${duration(content.uptimeSeconds * 1_000)}`
  return undefined
}

/**
 * The outcome of a request by the gateway's last report; undefined while it goes on. One that is done fails when the
 * gateway goes back later.
 */
export function endOf(row: RequestRow, heard: Heard | undefined, release: Release | undefined, now: number) {
  const content = heard?.content
  if (hasIt(row, heard, now)) return row.state === 'done' ? undefined : { state: 'done' as const, message: '' }
  if (content?.update?.state === 'failed' && content.update.attempt === row.attempt)
    return { state: 'failed' as const, message: content.update.message }
  if (release && release.number !== row.number && row.state === 'asked')
    return { state: 'failed' as const, message: `The hub hands out ${release.version} now.` }
  return undefined
}

/** Whether it runs the release, and is no longer on trial. A skipped one must have come back, and be well. */
function hasIt(row: RequestRow, heard: Heard | undefined, now: number): boolean {
  const content = heard?.content
  if (!content?.release || content.release.number < row.number || content.update?.state === 'trying') return false
  if (row.state === 'skipped') return heard!.at > (row.ended_at ?? 0) && whyUnwell(row.number, heard, now) === undefined
  return content.restarts !== undefined || content.uptimeSeconds >= TRIAL_SECONDS
}

const WORDS = { waiting: 'Waits', fetching: 'Fetches it', trying: 'Tries it', failed: 'Failed' }

/** What the gateway reported about this request; empty before its first report. */
export function progressOf({ attempt }: RequestRow, content: Heartbeat | undefined): string {
  const reported = content?.update?.attempt === attempt ? content.update : undefined
  return reported ? [WORDS[reported.state], reported.message].filter(Boolean).join(': ') : ''
}
