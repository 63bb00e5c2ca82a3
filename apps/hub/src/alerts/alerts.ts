/**
 * From incidents to alerts, the messages of alert rules. A rule announces an incident once. Incidents that arrive while
 * a message waits in the outbox join it, so that a storm is one message that grows; after a message was sent, the next
 * one waits for the rule's cool-down. Further steps notify other people until somebody acknowledges (steps.ts,
 * acknowledge.ts).
 */
import { randomBytes } from 'node:crypto'
import type { Alert, AlertStep, Language } from '@hedgerow/contract'
import type { Transaction } from 'kysely'
import { gatewayIdsIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import { LONGEST_WAIT_MS } from '../database/clock-leaps.ts'
import type { Tables } from '../database/tables.ts'
import { tagsOf } from '../database/tags.ts'
import { record } from '../facts/facts.ts'
import type { Announcement, Notifications } from '../notifications/notifications.ts'
import { placeOf } from '../sites/sites.ts'
import type { AlertRow } from './alert-rows.ts'
import { aboutAlert, wholeList, visibleList } from './alert-rows.ts'
import { fieldsOf } from './alert-rules.ts'
import { contentOf } from './contents.ts'
import { grow } from './growing.ts'
import { coversOccurrence, coversPlace } from './match.ts'
import { readPreferences, sharedReader } from './preferences.ts'
import { dueAtOf, keyOf as sightingKey, type Sent } from './sightings.ts'
import { isWaitedFor } from './still-true.ts'
import { detailOf, firstOf, type Line, type Stage, type LineList } from './words.ts'

/** The names by which programs know the messages. */
export const EVENTS: Readonly<Record<Alert['kind'], Announcement['kind']>> = {
  detection: 'incident.alert',
  'gateway-quiet': 'gateway.quiet',
  'gateway-warning': 'gateway.warning',
  'camera-dark': 'camera.dark',
  'deterrent-failed': 'deterrent.failed',
  disk: 'storage.low',
  approval: 'registration.pending',
  certificate: 'certificate.expiring',
  backup: 'backup.failed',
  test: 'test',
}
const BACK: Partial<Record<Alert['kind'], Announcement['kind']>> = {
  'gateway-quiet': 'gateway.back',
  'camera-dark': 'camera.back',
}

type Outbox = Pick<Notifications, 'announce' | 'waitsUnder'>

export const MINUTE_MS = 60_000
const ID_BYTES = 9
/** Older alerts about requests stay as they are. */
const LOOKED_AT = 20
const COOL_DOWN_MAX_MS = 86_400_000
/** A rule sends few messages in a cool-down. */
const SENT_READ = 10

/** Something to report once; `once` identifies it among everything that a rule reports. */
export type Occurrence = {
  /** When it is announced, in milliseconds since 1970. */
  at: number
  line: Line
  once: string
  severity?: 'alert' | 'detection'
  isValidated?: boolean
}

/** Announces things of gateways and of the hub itself, each rule those that it covers. */
export async function report(
  transaction: Transaction<Tables>,
  things: readonly Occurrence[],
  outbox: Outbox,
): Promise<void> {
  const at = things.at(-1)?.at
  if (at === undefined) return
  const rules = await transaction.selectFrom('alert_rules').select(['id', 'fields']).orderBy('id').execute()
  if (rules.length === 0) return
  const gatewayIds = [...new Set(things.map(({ line }) => line.gatewayId))]
  const gateways = await transaction
    .selectFrom('gateways')
    .leftJoin('sites', 'sites.id', 'gateways.site_id')
    .select(['gateways.id', 'location', 'site_id', 'sites.name as site_name', 'tags'])
    .where('gateways.id', 'in', gatewayIds)
    .execute()
  const byId = new Map(gateways.map((gateway) => [gateway.id, gateway]))
  const places = gatewayIds.map((gatewayId) => {
    const gateway = byId.get(gatewayId)
    return { gatewayId, siteId: gateway?.site_id ?? null, tags: gateway ? tagsOf(gateway) : [], at }
  })
  // Each thing is read once, and not once for each rule.
  const occurrences = things.map((thing) => ({
    severity: 'alert' as const,
    isValidated: true,
    ...thing.line,
    ...thing,
  }))
  for (const rule of rules) {
    const fields = fieldsOf(rule)
    const covered = new Set(places.filter((place) => coversPlace(fields, place)).map(({ gatewayId }) => gatewayId))
    if (covered.size === 0) continue
    const wanted = occurrences.filter(
      (occurrence) => covered.has(occurrence.gatewayId) && coversOccurrence(fields, occurrence),
    )
    const fresh = await markTold(transaction, rule.id, wanted, at)
    if (fresh.length === 0) continue
    const lines = fresh.map(({ line }) => {
      const gateway = byId.get(line.gatewayId)
      return { ...line, site: gateway ? placeOf(gateway) : '' }
    })
    const alertId = await addLines(transaction, rule.id, lines, at, outbox)
    await transaction
      .updateTable('alerted_incidents')
      .set({ alert_id: alertId ?? null })
      .where('rule_id', '=', rule.id)
      .where(
        'incident_id',
        'in',
        fresh.map(({ once }) => once),
      )
      .execute()
  }
}

/** Marks these as announced by the rule; returns those that were not announced before, each once. */
export async function markTold(
  transaction: Transaction<Tables>,
  ruleId: string,
  things: readonly Occurrence[],
  at: number,
): Promise<Occurrence[]> {
  if (things.length === 0) return []
  const rows = await transaction
    .insertInto('alerted_incidents')
    .values(things.map(({ once }) => ({ rule_id: ruleId, incident_id: once, at })))
    .onConflict((conflict) => conflict.columns(['rule_id', 'incident_id']).doNothing())
    .returning('incident_id')
    .execute()
  const fresh = new Set(rows.map((row) => row.incident_id))
  return things.filter(({ once }) => fresh.delete(once))
}

/**
 * Adds lines of one kind to the rule's waiting message, or to a new one. Returns the alert's id; undefined when the
 * rule is gone.
 */
export async function addLines(
  transaction: Transaction<Tables>,
  ruleId: string,
  lines: readonly Line[],
  at: number,
  outbox: Outbox,
): Promise<string | undefined> {
  const kind = firstOf(lines).kind
  // Locked, so that two gateways at once write one message.
  const rule = await transaction
    .updateTable('alert_rules')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where('id', '=', ruleId)
    .returningAll()
    .executeTakeFirst()
  if (!rule) return undefined
  const fields = fieldsOf(rule)
  const latest = await transaction
    .selectFrom('alerts')
    .selectAll()
    .where('rule_id', '=', ruleId)
    .where('kind', '=', kind)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  const delivery = latest && (await outbox.waitsUnder(transaction, keyOf(latest, 0)))
  // The outbox has no row when no channel is configured; then the alert's own time counts.
  const lastAt = delivery?.dueAt ?? latest?.due_at
  const isFromAhead = lastAt !== undefined && lastAt > at + LONGEST_WAIT_MS
  const isWaiting = delivery ? delivery.isWaiting : latest !== undefined && at < latest.due_at && !isFromAhead
  const grows = latest !== undefined && isWaiting && latest.acknowledged_at === null && latest.cleared_at === null
  const id = grows ? latest.id : randomBytes(ID_BYTES).toString('base64url')
  const { content, list } = grow(id, grows ? latest : undefined, lines)
  const joins = !grows && latest !== undefined && isSameOutage(latest, lines, at)
  if (joins) {
    const { content } = grow(latest.id, latest, lines)
    await transaction.updateTable('alerts').set(content).where('id', '=', latest.id).execute()
    return latest.id
  }
  const sent = isFromAhead ? [] : await sentBy(transaction, { ruleId, kind, lastAt }, { at, except: grows ? id : '' })
  const keys = lines.map((line) => (kind === 'detection' ? sightingKey(line) : ''))
  const wantedAt = dueAtOf({ at, keys }, sent, fields)
  const waitsUntil = delivery?.dueAt ?? latest?.due_at ?? wantedAt
  const mayHurry = grows && kind === 'detection'
  const dueAt = !grows ? wantedAt : mayHurry ? Math.min(waitsUntil, wantedAt) : waitsUntil
  const isSooner = grows && dueAt < waitsUntil
  if (grows) {
    const due = isSooner && { due_at: dueAt, people_due_at: dueAt, next_step_at: nextStepAt(fields.steps[0], dueAt) }
    await transaction
      .updateTable('alerts')
      .set({ ...content, ...due })
      .where('id', '=', id)
      .execute()
  }
  if (isSooner)
    await transaction
      .updateTable('notifications')
      .set({ due_at: dueAt })
      .where('alert_id', '=', id)
      .where('state', '=', 'waiting')
      .execute()
  const alert = grows
    ? { ...latest, ...content }
    : await transaction
        .insertInto('alerts')
        .values({
          ...content,
          id,
          rule_id: ruleId,
          kind,
          rule_name: fields.name,
          number: rule.message + 1,
          at,
          due_at: dueAt,
          next_step_at: nextStepAt(fields.steps[0], dueAt),
          people_due_at: dueAt,
        })
        .returningAll()
        .executeTakeFirstOrThrow()
  await transaction
    .updateTable('alert_rules')
    .set({ message: Math.max(alert.number, rule.message), message_at: at, incidents: list.count })
    .where('id', '=', ruleId)
    .execute()
  await announceStep(transaction, alert, { ...fields, step: 0, dueAt, list }, outbox)
  return alert.id
}

/** A gateway of the same site that goes offline within this time is part of the same outage. */
const SAME_OUTAGE_MS = 15 * MINUTE_MS

/** One outage of a site is one message, and is over with the last of its gateways. */
function isSameOutage(latest: AlertRow, lines: readonly Line[], at: number): boolean {
  if (latest.kind !== 'gateway-quiet' || latest.cleared_at !== null || at - latest.due_at > SAME_OUTAGE_MS) return false
  const sites = new Set(wholeList(latest).lines.map(({ site }) => site))
  return lines.every(({ site = '' }) => site !== '' && sites.has(site))
}

/** The messages of the longest cool-down before `at`, but that one that grows. */
async function sentBy(
  transaction: Transaction<Tables>,
  { ruleId, kind, lastAt }: { ruleId: string; kind: Alert['kind']; lastAt: number | undefined },
  { at, except }: { at: number; except: string },
): Promise<Sent[]> {
  if (lastAt === undefined) return []
  if (kind !== 'detection') return except === '' ? [{ dueAt: lastAt, keys: undefined }] : []
  const rows = await transaction
    .selectFrom('alerts')
    .select(['due_at', 'sightings'])
    .where('rule_id', '=', ruleId)
    .where('kind', '=', kind)
    .where('id', '!=', except)
    .where('due_at', '>', at - COOL_DOWN_MAX_MS)
    .orderBy('number', 'desc')
    .limit(SENT_READ)
    .execute()
  return rows.map(({ due_at, sightings }) => ({
    dueAt: due_at,
    keys: sightings === null ? undefined : new Set(Object.keys(JSON.parse(sightings) as object)),
  }))
}

type Whom = Pick<AlertStep, 'channels' | 'people'> & {
  /** The language of shared channels; null for the hub's language. */
  language: Language | null
  /** What the alert says, when it is known already. */
  list?: LineList
}

/**
 * Writes the messages of a step into the outbox, for the channels that people share and as mail to the named people:
 * to each what they may see, in their own language. Step 0 is the alert's own.
 */
export async function announceStep(
  transaction: Transaction<Tables>,
  alert: AlertRow,
  { step, dueAt, channels, people, language, list = wholeList(alert) }: Whom & { step: Stage; dueAt: number },
  { announce }: Pick<Notifications, 'announce'>,
): Promise<void> {
  const about = {
    alertId: alert.id,
    kind: step === 'cleared' ? (BACK[alert.kind] ?? EVENTS[alert.kind]) : EVENTS[alert.kind],
    grows: true,
    dueAt,
  }
  const mailed = channels.length === 0 || channels.includes('email') ? await addressesOf(transaction, people) : []
  await announce(transaction, {
    ...about,
    ...keysOf(alert, step),
    channels,
    // The all-clear goes to everybody who got a message.
    ...(mailed.length > 0 && step !== 'cleared' && { except: ['email'] }),
    ...contentOf(alert, list, { step, reader: await sharedReader(transaction, language) }),
    data: dataOf(alert, list),
  })
  for (const { id: userId, email, role } of mailed) {
    const own = visibleList(alert, await gatewayIdsIn(transaction, scopeOf({ userId, role })))
    if (!own) continue
    await announce(transaction, {
      ...about,
      ...keysOf(alert, step, userId),
      ...contentOf(alert, own, { step, reader: await readPreferences(transaction, userId) }),
      data: {},
      to: email,
      userId,
    })
  }
}

/**
 * The key of a message, which may be for one reader; an all-clear revokes the message and the steps, where they were
 * sent.
 */
export function keysOf(
  alert: AlertRow,
  step: Stage,
  reader?: string,
): Pick<Announcement, 'key'> & Partial<Pick<Announcement, 'follows'>> {
  const of = (stage: Stage) => [keyOf(alert, stage), ...(reader === undefined ? [] : [reader])].join(' ')
  if (step !== 'cleared') return { key: of(step) }
  return { key: of(step), follows: Array.from({ length: alert.step + 1 }, (_, stage) => of(stage)) }
}

/** Programs get the data of the first thing. */
function dataOf({ rule_name: rule, kind }: AlertRow, list: LineList): Record<string, string> {
  const first = firstOf(list.lines)
  const { id, gatewayId, gatewayName, camera, label } = first
  const count = String(list.count)
  if (kind === 'detection') return { rule, incidents: count, incidentId: id }
  const values = { gatewayId, name: gatewayName, camera, label, reason: detailOf(first, 'en') }
  return { rule, count, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) }
}

function addressesOf(transaction: Transaction<Tables>, people: readonly string[]) {
  if (people.length === 0) return []
  return transaction
    .selectFrom('users')
    .select(['id', 'email', 'role'])
    .where('id', 'in', people)
    .where('active', '=', 1)
    .where('email', '!=', '')
    .orderBy('id')
    .execute()
}

export function nextStepAt(step: AlertStep | undefined, from: number): number | null {
  return step === undefined ? null : from + step.afterMinutes * MINUTE_MS
}

function keyOf({ id }: Pick<AlertRow, 'id'>, step: Stage): string {
  return `alert ${id} ${step}`
}

/** Clears the alerts whose requests have all been decided. */
export async function clearDecided(transaction: Transaction<Tables>, now: number): Promise<void> {
  const open = transaction
    .selectFrom('alerts')
    .selectAll()
    .where('kind', '=', 'approval')
    .where('cleared_at', 'is', null)
    .orderBy('at', 'desc')
    .limit(LOOKED_AT)
  for (const alert of await open.execute()) {
    if (await isWaitedFor(transaction, alert)) continue
    const over = { cleared_at: now, next_step_at: null }
    await transaction.updateTable('alerts').set(over).where('id', '=', alert.id).execute()
    await record(transaction, { kind: 'alert.cleared', ...aboutAlert(alert, now) })
  }
}
