/** Alerts as rows: reading them, and the part of each that a person may see. */
import type { Alert } from '@hedgerow/contract'
import type { Selectable } from 'kysely'
import { gatewayIdsIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Caller } from '../access/sessions.ts'
import type { Db, Tables } from '../database/tables.ts'
import { HUB } from '../facts/facts.ts'
import { readPreferences } from './preferences.ts'
import type { Reader } from './seen.ts'
import { tallyIn } from './sightings.ts'
import { firstOf, linesOf, pathOf, titleOf, type Line, type LineList } from './words.ts'

export type AlertRow = Selectable<Tables['alerts']>

const LISTED = 50

/** The number of incidents of each gateway. */
export type Counts = Readonly<Record<string, number>>

type Stored = Pick<AlertRow, 'lines' | 'counts' | 'sightings'>

export function toldOf(alert: Stored): LineList {
  return toldTo(alert, undefined) ?? { lines: linesIn(alert.lines), count: 0 }
}

/** The part of an alert that a person may see; undefined when there is none. */
export function toldTo({ lines, counts, sightings }: Stored, own: OwnGateways): LineList | undefined {
  const maySee = (gatewayId: string) => own === undefined || own.has(gatewayId)
  const mine = Object.entries(JSON.parse(counts) as Counts).filter(([gatewayId]) => maySee(gatewayId))
  const count = mine.reduce((sum, [, one]) => sum + one, 0)
  const shown = linesIn(lines).filter(({ gatewayId }) => maySee(gatewayId))
  const known = new Set(mine.flatMap(([gatewayId, one]) => (one > 0 ? [gatewayId] : [])))
  const seen = [...tallyIn(sightings).values()].filter(({ gatewayId }) => known.has(gatewayId))
  return shown.length > 0 ? { lines: shown, count, sightings: seen } : undefined
}

/** The gateways that a person sees; undefined for all. */
type OwnGateways = ReadonlySet<string> | undefined

export async function listAlerts(
  db: Db,
  caller: Caller,
  { incident }: { incident?: string | undefined },
): Promise<Alert[]> {
  const own = await gatewayIdsIn(db, scopeOf(caller))
  let asked = db
    .selectFrom('alerts')
    .selectAll()
    .where('kind', '!=', 'test')
    .orderBy('at', 'desc')
    .orderBy('id')
    .limit(LISTED)
  if (incident !== undefined)
    asked = asked.where(
      'id',
      'in',
      db.selectFrom('alerted_incidents').select('alert_id').where('incident_id', '=', incident),
    )
  else if (own !== undefined)
    // An alert of several gateways may include theirs; `toldTo` decides.
    asked = asked.where(({ or, eb }) => or([eb('gateway_id', 'is', null), eb('gateway_id', 'in', ['', ...own])]))
  const reader = await readPreferences(db, caller.userId)
  return (await asked.execute()).flatMap((row) => {
    const told = toldTo(row, own)
    return told ? [toAlert(row, told, reader)] : []
  })
}

/** An alert in the words of its reader. */
export function toAlert(row: AlertRow, told: LineList, reader: Reader): Alert {
  const { gatewayId, coverId } = firstOf(told.lines)
  return {
    id: row.id,
    ruleName: row.rule_name,
    kind: row.kind,
    title: titleOf(told, reader),
    lines: linesOf(told, reader),
    path: pathOf(told, row.id),
    at: new Date(row.at).toISOString(),
    count: told.count,
    picture: coverId === null ? null : { gatewayId, detectionId: coverId },
    step: row.step,
    nextStepAt: row.next_step_at === null ? null : new Date(row.next_step_at).toISOString(),
    acknowledged: acknowledgementOf(row),
    clearedAt: row.cleared_at === null ? null : new Date(row.cleared_at).toISOString(),
  }
}

export function acknowledgementOf(row: AlertRow): Alert['acknowledged'] {
  const { acknowledged_at: at, acknowledged_by: by, acknowledged_via: via } = row
  return at === null ? null : { at: new Date(at).toISOString(), by: by ?? '', via: via ?? 'portal' }
}

/** What the facts about an alert say. */
export function aboutAlert(alert: AlertRow, now: number) {
  return {
    at: now,
    actor: HUB,
    target: alert.id,
    gatewayId: alert.gateway_id ?? undefined,
    data: { title: titleOf(toldOf(alert)), ruleName: alert.rule_name },
  }
}

const OLDER = { kind: 'detection' as const, detail: '' }

/** Lines that an older hub stored have no kind: they are all of detections. */
export function linesIn(json: string): Line[] {
  return (JSON.parse(json) as Line[]).map((line) => ({ ...OLDER, ...line }))
}
