/**
 * From incidents to messages. A rule tells of an incident once. What comes while a message waits in the outbox joins
 * it, so that a storm is one message that grows; after one was sent the next waits for the rule's cool-down.
 */
import type { FactData } from '@hedgerow/contract'
import type { Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { fieldsOf, type RuleRow } from './alert-rules.ts'
import { matches } from './match.ts'

type ReportedIncident = FactData['detection.reported']['incidents'][number]
type Reported = { at: number; gatewayId: string; gatewayName: string; incidents: readonly ReportedIncident[] }
/** One line of a message. */
type Line = { id: string; text: string; gatewayId: string; coverId: string | null }

/** Lines in a message; more are counted. */
const LINES_MAX = 10

export async function tell(
  transaction: Transaction<Tables>,
  { at, gatewayId, gatewayName, incidents }: Reported,
  notifications: Pick<Notifications, 'announce' | 'waitsUnder'>,
): Promise<void> {
  if (incidents.length === 0) return
  const rules = await transaction.selectFrom('alert_rules').selectAll().orderBy('id').execute()
  if (rules.length === 0) return
  const gateway = await transaction
    .selectFrom('gateways')
    .select('location')
    .where('id', '=', gatewayId)
    .executeTakeFirst()
  const location = gateway?.location ?? ''
  for (const rule of rules) {
    const fields = fieldsOf(rule)
    const wanted = incidents.filter((incident) => matches(fields, { ...incident, gatewayId, location, at }))
    const fresh = await markTold(transaction, rule.id, wanted, at)
    const lines = fresh.map(({ id, label, camera, coverId, startedAt }) => ({
      id,
      gatewayId,
      coverId,
      text: `${label} at ${gatewayName}, ${camera}, ${new Date(startedAt).toISOString().slice(11, 16)} UTC`,
    }))
    if (lines.length > 0) await tellOver(transaction, rule.id, lines, at, notifications)
  }
}

/** Those of the incidents that the rule has not told of; it has now. */
async function markTold(
  transaction: Transaction<Tables>,
  ruleId: string,
  incidents: readonly ReportedIncident[],
  at: number,
): Promise<ReportedIncident[]> {
  if (incidents.length === 0) return []
  const rows = await transaction
    .insertInto('alerted_incidents')
    .values(incidents.map(({ id }) => ({ rule_id: ruleId, incident_id: id, at })))
    .onConflict((conflict) => conflict.columns(['rule_id', 'incident_id']).doNothing())
    .returning('incident_id')
    .execute()
  const fresh = new Set(rows.map((row) => row.incident_id))
  return incidents.filter(({ id }) => fresh.has(id))
}

async function tellOver(
  transaction: Transaction<Tables>,
  ruleId: string,
  lines: readonly Line[],
  at: number,
  notifications: Pick<Notifications, 'announce' | 'waitsUnder'>,
): Promise<void> {
  // Locked, so that two gateways at once write one message.
  const rule = await transaction
    .updateTable('alert_rules')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where('id', '=', ruleId)
    .returningAll()
    .executeTakeFirstOrThrow()
  const fields = fieldsOf(rule)
  const known = await notifications.waitsUnder(transaction, keyOf(rule))
  const grows = known?.isWaiting === true
  const told = grows ? (JSON.parse(rule.told) as Line[]) : []
  const next = {
    message: grows ? rule.message : rule.message + 1,
    incidents: (grows ? rule.incidents : 0) + lines.length,
    told: [...told, ...lines].slice(0, LINES_MAX),
  }
  await transaction
    .updateTable('alert_rules')
    .set({ ...next, told: JSON.stringify(next.told), message_at: at })
    .where('id', '=', ruleId)
    .execute()
  const coolsUntil = known === undefined ? 0 : known.dueAt + fields.coolDownSeconds * 1_000
  const first = next.told.find(({ coverId }) => coverId !== null) ?? next.told[0]!
  const more = next.incidents - next.told.length
  await notifications.announce(transaction, {
    key: keyOf({ ...rule, message: next.message }),
    kind: 'incident.alert',
    grows: true,
    dueAt: grows ? known.dueAt : Math.max(at + fields.collectSeconds * 1_000, coolsUntil),
    channels: fields.channels,
    title: next.incidents === 1 ? first.text : `${next.incidents} threats, the first: ${next.told[0]!.text}`,
    text: [
      ...next.told.map(({ text }) => text),
      ...(more > 0 ? [`and ${more} more`] : []),
      `Rule: ${fields.name}`,
    ].join('\n'),
    path: next.incidents === 1 ? `/threats?incident=${first.id}` : '/threats?review=none',
    data: { rule: fields.name, incidents: String(next.incidents), incidentId: first.id },
    ...(first.coverId !== null && { picture: { gatewayId: first.gatewayId, detectionId: first.coverId } }),
  })
}

function keyOf({ id, message }: Pick<RuleRow, 'id' | 'message'>): string {
  return `incident.alert ${id} ${message}`
}
