import type { AlertRuleFields, Incident, previewAlertRule, ResponseOf } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { tagsOf } from '../database/tags.ts'
import { matches } from './match.ts'
import { dueAtOf } from './sightings.ts'

const DAYS = 7
const DAY_MS = 86_400_000
const LOOKED_AT = 10_000
const NEWEST_SHOWN = 12

/** The incidents that a rule would have announced. A rule announces an incident when it begins. */
export async function preview(
  db: Kysely<Tables>,
  rule: AlertRuleFields,
  now: number,
  listIncidents: (ids: readonly string[]) => Promise<Incident[]>,
): Promise<ResponseOf<typeof previewAlertRule>> {
  const rows = await db
    .selectFrom('incidents')
    .innerJoin('gateways', 'gateways.id', 'incidents.gateway_id')
    .select([
      'incidents.id',
      'incidents.gateway_id',
      'gateways.site_id',
      'gateways.tags',
      'reported_label',
      'severity',
      'camera',
    ])
    .select('started_at')
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('detections')
          .select('detections.id')
          .whereRef('detections.incident_id', '=', 'incidents.id')
          .where('validated', '=', 1),
      ).as('validated'),
    )
    .where('started_at', '>=', now - DAYS * DAY_MS)
    .where('suppressed', '=', 0)
    .where('snoozed', '=', 0)
    .orderBy('started_at', 'desc')
    .limit(LOOKED_AT + 1)
    .execute()
  const matching = rows.slice(0, LOOKED_AT).filter((row) =>
    matches(
      { ...rule, enabled: true },
      {
        kind: 'detection',
        gatewayId: row.gateway_id,
        siteId: row.site_id,
        tags: tagsOf(row),
        label: row.reported_label,
        severity: row.severity,
        camera: row.camera,
        isValidated: Boolean(row.validated),
        at: row.started_at,
      },
    ),
  )
  const newest = matching.slice(0, NEWEST_SHOWN).map(({ id }) => id)
  return {
    incidents: matching.length,
    messages: countMessages(
      matching.map((row) => ({
        at: row.started_at,
        key: JSON.stringify([row.gateway_id, row.camera, row.reported_label]),
      })),
      rule,
    ),
    isWhole: rows.length <= LOOKED_AT,
    newest: await listIncidents(newest),
  }
}

/** `seen` in any order. */
function countMessages(seen: readonly { at: number; key: string }[], rule: AlertRuleFields): number {
  const sent: { dueAt: number; keys: Set<string> }[] = []
  for (const { at, key } of seen.toSorted((a, b) => a.at - b.at)) {
    const last = sent.at(-1)
    if (last && at <= last.dueAt) {
      last.keys.add(key)
      last.dueAt = Math.min(last.dueAt, dueAtOf({ at, keys: [key] }, sent.slice(0, -1), rule))
    } else sent.push({ dueAt: dueAtOf({ at, keys: [key] }, sent.slice(-10), rule), keys: new Set([key]) })
  }
  return sent.length
}
