/** Reads what a scope has: nothing that is outside it, and nothing by its id alone. */
import type { Selectable } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { ownedBy, type Owned } from './ownership.ts'
import { scopeOf, SCOPED, type Principal, type Scope, type Scoped } from './scope.ts'

const OWN_ONLY = 'Only admins make somebody else the owner. You can name yourself.'

type Row = Selectable<Tables['gateways']>
export type IncidentRow = Selectable<Tables['incidents']>

/** A gateway that the caller sees, without its secrets. */
export type VisibleGateway = {
  id: string
  name: string
  kind: Row['kind']
  address: string
  wireguardPublicKey: string
  lastHandshakeAt: number | null
  createdAt: number
}

export function gatewaysIn(db: Db, scope: Scope) {
  return db.selectFrom('gateways').where(scope.condition('gateways'))
}

export function registrationsIn(db: Db, scope: Scope) {
  return db.selectFrom('registrations').where(scope.condition('registrations'))
}

export function incidentsIn(db: Db, scope: Scope) {
  const all = db.selectFrom('incidents')
  return scope.isWhole ? all : all.where('incidents.gateway_id', 'in', gatewaysIn(db, scope).select('gateways.id'))
}

/** The username of the owner of each. */
export function withOwner(gateways: ReturnType<typeof gatewaysIn>) {
  return gateways.leftJoin('users', 'users.id', 'gateways.owner_id').select('users.username as owner')
}

/** Invitations of gateways with the username of who gets them, and the name of their site. */
export function invitationsWithOwner(db: Db) {
  return db
    .selectFrom('gateway_invitations')
    .leftJoin('users', 'users.id', 'gateway_invitations.owner_id')
    .leftJoin('sites', 'sites.id', 'gateway_invitations.site_id')
    .selectAll('gateway_invitations')
    .select(['users.username as owner', 'sites.name as site_name'])
}

/**
 * Whom a person may make the owner of what joins: an admin names everybody who is active, others themselves. Throws
 * `user_not_found` or `role_required`.
 */
export async function ownerNamed(
  db: Db,
  name: string | null,
  { userId, role }: Principal,
): Promise<Owned & { owner: string | null }> {
  if (name === null) return { ...ownedBy(null), owner: null }
  const user = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where('username', '=', name)
    .where('active', '=', 1)
    .executeTakeFirst()
  const mayNameAll = scopeOf({ userId, role }).may({ hub: 'admin' })
  if (!mayNameAll && user?.id !== userId) throw new HubError('role_required', { message: OWN_ONLY })
  if (!user) throw new HubError('user_not_found', { message: `No active user has the name "${name}".` })
  return { ...ownedBy(user.id), owner: user.username }
}

/** The ids of a scope's gateways; undefined for all. */
export async function gatewayIdsIn(db: Db, scope: Scope): Promise<ReadonlySet<string> | undefined> {
  if (scope.isWhole) return undefined
  const own = await gatewaysIn(db, scope).select('gateways.id').execute()
  return new Set(own.map(({ id }) => id))
}

/** The given gateways that the scope has. */
export async function visibleGatewayIds(db: Db, scope: Scope, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await gatewaysIn(db, scope)
    .select('gateways.id')
    .where('gateways.id', 'in', [...new Set(ids)])
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Throws `gateway_not_found`, also for one outside the scope. */
export async function findGateway(db: Db, scope: Scope, id: string): Promise<VisibleGateway> {
  const row = await gatewaysIn(db, scope).selectAll('gateways').where('gateways.id', '=', id).executeTakeFirst()
  if (!row) throw new HubError('gateway_not_found')
  return toVisible(row)
}

/** The gateway of this token; undefined for an unknown token and for a gateway outside the scope. */
export async function findByDeviceToken(db: Db, scope: Scope, token: string): Promise<VisibleGateway | undefined> {
  const found = gatewaysIn(db, scope).selectAll('gateways').where('gateways.device_token', '=', token)
  const row = await found.executeTakeFirst()
  return row && toVisible(row)
}

/** Throws `incident_not_found`, also for one outside the scope. */
export async function findIncident(db: Db, scope: Scope, id: string): Promise<IncidentRow> {
  const row = await incidentsIn(db, scope).selectAll('incidents').where('incidents.id', '=', id).executeTakeFirst()
  if (!row) throw new HubError('incident_not_found')
  return row
}

/** What tells whether a scope has one of these gateways. */
export function ownershipOf(db: Db, gatewayIds: Iterable<string>): Promise<Scoped[]> {
  return db
    .selectFrom('gateways')
    .select(SCOPED)
    .distinct()
    .where('id', 'in', [...gatewayIds])
    .execute()
}

function toVisible(row: Row): VisibleGateway {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    address: row.address,
    wireguardPublicKey: row.wireguard_public_key,
    lastHandshakeAt: row.last_handshake_at,
    createdAt: row.created_at,
  }
}
