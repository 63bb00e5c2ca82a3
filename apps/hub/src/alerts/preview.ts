import type { AlertRuleFields, Incident, previewAlertRule, ResponseOf } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { tagsOf } from '../database/tags.ts'
import { matches } from './match.ts'

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
      'gateways.location',
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
    .orderBy('started_at', 'desc')
    .limit(LOOKED_AT + 1)
    .execute()
  const told = rows.slice(0, LOOKED_AT).filter((row) =>
    matches(
      { ...rule, enabled: true },
      {
        kind: 'detection',
        gatewayId: row.gateway_id,
        location: row.location,
        tags: tagsOf(row),
        label: row.reported_label,
        severity: row.severity,
        camera: row.camera,
        isValidated: Boolean(row.validated),
        at: row.started_at,
      },
    ),
  )
  const newest = told.slice(0, NEWEST_SHOWN).map(({ id }) => id)
  return {
    incidents: told.length,
    messages: countMessages(
      told.map((row) => row.started_at),
      rule,
    ),
    isWhole: rows.length <= LOOKED_AT,
    newest: await listIncidents(newest),
  }
}

/** `moments` in any order. */
function countMessages(moments: readonly number[], { collectSeconds, coolDownSeconds }: AlertRuleFields): number {
  let messages = 0
  let sentAt = -Infinity
  for (const at of moments.toSorted((a, b) => a - b)) {
    if (at <= sentAt) continue
    messages++
    sentAt = Math.max(at + collectSeconds * 1_000, sentAt + coolDownSeconds * 1_000)
  }
  return messages
}
