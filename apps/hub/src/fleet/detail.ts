/** Everything that the hub knows of one gateway: the conditions from its request to its heartbeat, traffic, visits. */
import type { GatewayDetail } from '@hedgerow/contract'
import { fingerprint } from '@hedgerow/enrolment'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Scope } from '../access/scope.ts'
import type { Vpn } from '../tunnel/tunnel.ts'
import { presentGateway, type ListDependencies } from './fleet.ts'

const VISITS_SHOWN = 50

type Condition = GatewayDetail['ladder'][number]

/** Throws `gateway_not_found` also for one outside the scope. */
export async function readGateway(
  db: Kysely<Tables>,
  scope: Scope,
  id: string,
  dependencies: ListDependencies & { vpn: Pick<Vpn, 'peer' | 'disabledReason'> },
): Promise<GatewayDetail> {
  const gateway = await presentGateway(scope, id, dependencies)
  const row = await db
    .selectFrom('gateways')
    .select(['identity_public_key', 'wireguard_public_key', 'last_handshake_at', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw new HubError('gateway_not_found')
  const registration = await db
    .selectFrom('registrations')
    .select(['requested_at', 'decided_at', 'decided_by', 'source_ip'])
    .where('gateway_id', '=', id)
    .where('status', '=', 'approved')
    .executeTakeFirst()
  const { vpn, signals } = dependencies
  const peer = vpn.peer(row.wireguard_public_key)
  const heartbeat = signals.heartbeats.latest(id)
  const handshakeAt = peer?.latestHandshakeAtMs ?? row.last_handshake_at
  const refused = signals.refusals(id)
  const conditions: Condition[] = [
    registration
      ? condition('registered', registration.requested_at, `asked from ${registration.source_ip}`)
      : condition('registered', row.created_at, 'added by hand'),
    condition(
      'approved',
      registration?.decided_at ?? row.created_at,
      registration?.decided_by ? `approved by ${registration.decided_by}` : 'added by hand',
    ),
    handshakeCondition(handshakeAt, vpn, gateway.blockedUdp),
  ]
  if (gateway.kind === 'enrolled')
    conditions.push(
      heartbeat
        ? condition('heartbeat', heartbeat.at, gateway.statusReason, gateway.status === 'offline' ? 'failed' : 'done')
        : { step: 'heartbeat', state: 'waiting', at: null, message: 'no heartbeat yet' },
    )
  return {
    ...gateway,
    ladder: conditions,
    fingerprint: row.identity_public_key === null ? null : fingerprint(row.identity_public_key),
    heartbeat: heartbeat ? { ...heartbeat.content, receivedAt: new Date(heartbeat.at).toISOString() } : null,
    traffic: peer ? { receivedBytes: peer.receivedBytes, sentBytes: peer.sentBytes } : null,
    refused: refused
      ? { detections: refused.detections, message: refused.message, at: new Date(refused.at).toISOString() }
      : null,
    access: scope.may({ gateway: 'manage' }) ? await visits(db, id) : [],
  }
}

/** The people who opened its page through the hub, newest first. */
async function visits(db: Kysely<Tables>, gatewayId: string): Promise<GatewayDetail['access']> {
  const rows = await db
    .selectFrom('ui_access')
    .innerJoin('users', 'users.id', 'ui_access.user_id')
    .select(['users.username', 'ui_access.started_at', 'ui_access.source_ip'])
    .where('ui_access.gateway_id', '=', gatewayId)
    .orderBy('ui_access.started_at', 'desc')
    .limit(VISITS_SHOWN)
    .execute()
  return rows.map((row) => ({
    username: row.username,
    startedAt: new Date(row.started_at).toISOString(),
    sourceIp: row.source_ip,
  }))
}

function handshakeCondition(
  at: number | null,
  { disabledReason }: Pick<Vpn, 'disabledReason'>,
  blockedUdp: string | null,
): Condition {
  if (disabledReason !== undefined)
    return { step: 'handshake', state: 'failed', at: isoOrNull(at), message: disabledReason }
  if (blockedUdp !== null)
    return {
      step: 'handshake',
      state: 'failed',
      at: isoOrNull(at),
      message:
        'UDP seems to be blocked: heartbeats come over HTTP(S), none through the tunnel. Let UDP from the gateway ' +
        `reach ${blockedUdp}.`,
    }
  if (at === null) return { step: 'handshake', state: 'waiting', at: null, message: 'no VPN handshake yet' }
  return condition('handshake', at, 'last VPN handshake')
}

function condition(
  step: Condition['step'],
  at: number,
  message: string,
  state: Condition['state'] = 'done',
): Condition {
  return { step, state, at: new Date(at).toISOString(), message }
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
