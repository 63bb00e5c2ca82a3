/** Somebody takes care of an alert: its steps end, and everybody sees who it is. */
import type { Alert, FactActor, readAlertLink, ResponseOf } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import { gatewayIdsIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Caller } from '../access/sessions.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act, type Authorship } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { acknowledgementOf, toAlert, wholeList, visibleList, type AlertRow } from './alert-rows.ts'
import { fieldsOf } from './alert-rules.ts'
import type { AlertLink } from './links.ts'
import { readPreferences, sharedReader } from './preferences.ts'
import type { Reader } from './seen.ts'
import { firstOf, linesOf, titleOf } from './words.ts'

/** Who used the link of a channel that people share. No username has a space. */
const UNKNOWN: FactActor = { name: 'Somebody unknown' }

type Linked = ResponseOf<typeof readAlertLink>

/** Throws `alert_not_found`, also for one that the caller may not see. */
export function acknowledge(db: Kysely<Tables>, id: string, act: Act): Promise<Alert> {
  return inTransaction(db, async (transaction) => {
    const row = await readAlert(transaction, id)
    const list = visibleList(row, await gatewayIdsIn(transaction, scopeOf(act.actor)))
    if (!list) throw new HubError('alert_not_found')
    const reader = await readPreferences(transaction, act.actor.userId)
    return toAlert(await markAcknowledged(transaction, row, { ...by(act), via: 'portal' }), list, reader)
  })
}

/** Throws `alert_not_found` when the alert is gone. */
export async function readLinked(db: Db, { alertId, userId }: AlertLink): Promise<Linked> {
  const row = await readAlert(db, alertId)
  return toLinked(db, row, userId === undefined ? undefined : await readPerson(db, userId))
}

/** Throws `alert_not_found` when the alert is gone. */
export function acknowledgeLinked(
  db: Kysely<Tables>,
  { alertId, channel, userId }: AlertLink,
  from: Pick<Act, 'sourceIp' | 'now'>,
): Promise<Linked> {
  return inTransaction(db, async (transaction) => {
    const row = await readAlert(transaction, alertId)
    const person = userId === undefined ? undefined : await readPerson(transaction, userId)
    const { sourceIp, now: at } = from
    const author = person ? by({ actor: person, ...from }) : { at, actor: { ...UNKNOWN, sourceIp } }
    return toLinked(transaction, await markAcknowledged(transaction, row, { ...author, via: channel }), person)
  })
}

type Person = Pick<Caller, 'userId' | 'username' | 'role'>

async function readPerson(db: Db, userId: string): Promise<Person> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'username', 'role'])
    .where('id', '=', userId)
    .where('active', '=', 1)
    .executeTakeFirst()
  // A person who is no longer active may not act through an old mail.
  if (!user) throw new HubError('alert_link_invalid')
  return { userId: user.id, username: user.username, role: user.role }
}

async function readAlert(db: Db, id: string): Promise<AlertRow> {
  const row = await db.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new HubError('alert_not_found')
  return row
}

/** An alert keeps its first acknowledgement. */
async function markAcknowledged(
  transaction: Db,
  row: AlertRow,
  { at, actor, via }: Authorship & { via: string },
): Promise<AlertRow> {
  const done = await transaction
    .updateTable('alerts')
    .set({
      acknowledged_at: at,
      acknowledged_by: actor.userId === undefined ? '' : actor.name,
      acknowledged_via: via,
      next_step_at: null,
    })
    .where('id', '=', row.id)
    .where('acknowledged_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  if (!done) return row
  // Nobody has to be woken any more: push messages that wait for the end of quiet hours are not sent.
  const held = transaction.deleteFrom('notifications').where('alert_id', '=', row.id).where('channel', '=', 'push')
  await held.where('state', '=', 'waiting').execute()
  await record(transaction, {
    kind: 'alert.acknowledged',
    at,
    actor,
    target: row.id,
    gatewayId: row.gateway_id ?? undefined,
    data: { title: titleOf(wholeList(row)), ruleName: row.rule_name, via },
  })
  return done
}

async function toLinked(db: Db, row: AlertRow, person: Person | undefined): Promise<Linked> {
  const list = visibleList(row, person && (await gatewayIdsIn(db, scopeOf(person))))
  if (!list) throw new HubError('alert_not_found')
  const reader = person ? await readPreferences(db, person.userId) : await readerOfRule(db, row)
  return {
    title: titleOf(list, reader),
    lines: linesOf(list, reader),
    acknowledged: acknowledgementOf(row),
    language: reader.language,
  }
}

async function readerOfRule(db: Db, { rule_id: id }: AlertRow): Promise<Reader> {
  const rule = await db.selectFrom('alert_rules').select('fields').where('id', '=', id).executeTakeFirst()
  return sharedReader(db, rule && fieldsOf(rule).language)
}

/** The detection whose picture the link shows. Throws `alert_not_found`. */
export async function readLinkedPicture(
  db: Db,
  { alertId, userId }: AlertLink,
): Promise<{ gatewayId: string; detectionId: string }> {
  const person = userId === undefined ? undefined : await readPerson(db, userId)
  const list = visibleList(await readAlert(db, alertId), person && (await gatewayIdsIn(db, scopeOf(person))))
  const { gatewayId, coverId } = list ? firstOf(list.lines) : { gatewayId: '', coverId: null }
  if (coverId === null) throw new HubError('alert_not_found')
  return { gatewayId, detectionId: coverId }
}
