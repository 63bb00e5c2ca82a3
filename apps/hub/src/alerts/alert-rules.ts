/** Alert rules: which incidents are announced outside the hub, and over which channels. */
import { randomBytes } from 'node:crypto'
import { ALERT_RULE_DEFAULTS, type AlertRule, type AlertRuleFields } from '@hedgerow/contract'
import type { Kysely, Selectable } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'
import { readSetting } from '../settings/settings.ts'
import { siteIdsOf } from '../sites/sites.ts'

const RULES_MAX = 100
const ID_BYTES = 9
/** How many parsed rules are remembered, by their stored text: more than there are rules, because rules change. */
const PARSED_KEPT = 2 * RULES_MAX
const parsed = new Map<string, Readonly<AlertRuleFields>>()

type RuleRow = Selectable<Tables['alert_rules']>

export async function readRules(db: Db): Promise<AlertRule[]> {
  const rows = await db.selectFrom('alert_rules').selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map(toRule)
}

/** The reason why nobody would be told of a threat, as a sentence; undefined when somebody would be. */
export async function troubleOfAlerts(db: Db): Promise<string | undefined> {
  if (!(await readSetting(db, 'enableNotifications')))
    return 'Notifications are off in the settings: nobody gets a message about a threat.'
  const rules = await readRules(db)
  if (rules.some(({ enabled, what }) => enabled && what.includes('detection'))) return undefined
  return 'No active alert rule covers what cameras see: nobody gets a message about a threat.'
}

/** Throws `too_many_alert_rules` and `site_not_found`. */
export function addRule(db: Kysely<Tables>, given: AlertRuleFields, act: Act): Promise<AlertRule> {
  return inTransaction(db, async (transaction) => {
    const { n } = await transaction
      .selectFrom('alert_rules')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    if (Number(n) >= RULES_MAX) throw new HubError('too_many_alert_rules')
    const fields = await withSiteIds(transaction, given)
    const row = await transaction
      .insertInto('alert_rules')
      .values({ id: randomBytes(ID_BYTES).toString('base64url'), fields: JSON.stringify(fields), created_at: act.now })
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordSaved(transaction, row.id, fields, act)
    return toRule(row)
  })
}

/** Throws `alert_rule_not_found`, `site_not_found` and `changed_meanwhile`. */
export function updateRule(
  db: Kysely<Tables>,
  id: string,
  change: Change<AlertRuleFields>,
  act: Act,
): Promise<AlertRule> {
  return inTransaction(db, async (transaction) => {
    const row = await transaction.selectFrom('alert_rules').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) throw new HubError('alert_rule_not_found')
    const fields = await withSiteIds(transaction, edited(fieldsOf(row), change))
    const stored = JSON.stringify(fields)
    await transaction.updateTable('alert_rules').set({ fields: stored }).where('id', '=', id).execute()
    await recordSaved(transaction, id, fields, act)
    return toRule({ ...row, fields: stored })
  })
}

/** Throws `alert_rule_not_found`. */
export function deleteRule(db: Kysely<Tables>, id: string, act: Act): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const row = await transaction.deleteFrom('alert_rules').where('id', '=', id).returning('fields').executeTakeFirst()
    if (!row) throw new HubError('alert_rule_not_found')
    await transaction.deleteFrom('alerted_incidents').where('rule_id', '=', id).execute()
    await transaction.deleteFrom('alert_problems').where('rule_id', '=', id).execute()
    await transaction.updateTable('alerts').set({ next_step_at: null }).where('rule_id', '=', id).execute()
    const { name } = JSON.parse(row.fields) as AlertRuleFields
    await record(transaction, {
      kind: 'alert-rule.deleted',
      ...by(act),
      target: id,
      data: { name },
    })
  })
}

/** Throws `site_not_found`. */
export async function withSiteIds(db: Db, fields: AlertRuleFields): Promise<AlertRuleFields> {
  return { ...fields, sites: await siteIdsOf(db, fields.sites) }
}

/**
 * Fields that an older hub did not store get their defaults. The same text gives the same object, because each batch of
 * detections asks for the fields of all rules.
 */
export function fieldsOf({ fields }: Pick<RuleRow, 'fields'>): Readonly<AlertRuleFields> {
  const cached = parsed.get(fields)
  if (cached) return cached
  const read = { ...ALERT_RULE_DEFAULTS, ...(JSON.parse(fields) as AlertRuleFields) }
  if (parsed.size >= PARSED_KEPT) parsed.clear()
  parsed.set(fields, read)
  return read
}

function recordSaved(db: Db, id: string, { name }: AlertRuleFields, act: Act): Promise<void> {
  return record(db, { kind: 'alert-rule.saved', ...by(act), target: id, data: { name } })
}

function toRule(row: RuleRow): AlertRule {
  return {
    ...fieldsOf(row),
    id: row.id,
    last: row.message_at === null ? null : { at: new Date(row.message_at).toISOString(), incidents: row.incidents },
  }
}
