/** Names for what entries have only the id of, looked up when they are read. */
import type { AuditEntry } from '@hedgerow/contract'
import type { Db } from '../database/tables.ts'

type Subject = NonNullable<AuditEntry['subject']>
type Find = (db: Db, ids: readonly string[]) => Promise<(Subject & { id: string })[]>

/** By the noun of the action. */
const FINDS: Readonly<Record<string, Find>> = {
  registration: findRegistrations,
  incident: findIncidents,
  'gateway-invitation': findInvitations('gateway_invitations', '/gateway-invitations'),
  'user-invitation': findInvitations('user_invitations', '/users'),
}

/** The entries with the name and the page of their target; null for other targets, and for what is gone. */
export async function withSubjects(db: Db, entries: readonly Omit<AuditEntry, 'subject'>[]): Promise<AuditEntry[]> {
  const found = new Map<string, Subject>()
  for (const [noun, some] of Map.groupBy(entries, nounOf)) {
    const ids = [...new Set(some.flatMap(({ target }) => target ?? []))]
    const find = Object.hasOwn(FINDS, noun) ? FINDS[noun] : undefined
    if (find === undefined || ids.length === 0) continue
    // The label of an invitation may be empty.
    for (const { id, name, path } of await find(db, ids)) if (name !== '') found.set(`${noun} ${id}`, { name, path })
  }
  return entries.map((entry) => ({ ...entry, subject: found.get(`${nounOf(entry)} ${entry.target}`) ?? null }))
}

function nounOf({ action }: Pick<AuditEntry, 'action'>): string {
  return action.slice(0, action.indexOf('.'))
}

function findInvitations(table: 'gateway_invitations' | 'user_invitations', path: string): Find {
  return async (db, ids) => {
    const rows = await db.selectFrom(table).select(['id', 'label as name']).where('id', 'in', ids).execute()
    return rows.map((row) => ({ ...row, path }))
  }
}

async function findRegistrations(db: Db, ids: readonly string[]): ReturnType<Find> {
  const rows = await db
    .selectFrom('registrations')
    .leftJoin('gateways', 'gateways.id', 'registrations.gateway_id')
    .select(['registrations.id', 'device_name', 'status', 'gateways.id as gateway'])
    .where('registrations.id', 'in', ids)
    .execute()
  return rows.map(({ id, device_name: name, status, gateway }) => ({
    id,
    name,
    path: gateway !== null ? `/gateways/${gateway}` : status === 'approved' ? null : '/gateway-approvals',
  }))
}

async function findIncidents(db: Db, ids: readonly string[]): ReturnType<Find> {
  const rows = await db
    .selectFrom('incidents')
    .innerJoin('gateways', 'gateways.id', 'incidents.gateway_id')
    .select(['incidents.id', 'reported_label', 'gateways.name'])
    .where('incidents.id', 'in', ids)
    .execute()
  return rows.map(({ id, reported_label: label, name }) => ({
    id,
    name: `${label} at ${name}`,
    path: `/threats?incident=${id}`,
  }))
}
