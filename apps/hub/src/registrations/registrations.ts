/**
 * Requests of devices to join: handed in by the enrolment handshake, listed for people, and rejected by them (approval
 * has a file of its own). A device is its keys: the same keys are always the same request, a rejected identity stays
 * rejected, and a known gateway that shows up with one new key waits as a key change while the old one works on.
 */
import { randomBytes } from 'node:crypto'
import type { PendingRegistration } from '@hedgerow/contract'
import { base32, fingerprint } from '@hedgerow/enrolment'
import type { Kysely, Selectable, Transaction } from 'kysely'
import { recordActivity } from '../activity/activity.ts'
import { writeAudit } from '../audit/audit.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../http/hub-error.ts'
import { hasRole } from '../http/policy.ts'
import type { Caller } from '../http/sessions.ts'
import { sourceKey } from './limits.ts'

export const PENDING_LIFETIME_MS = 7 * 24 * 3_600_000
const PENDING_MAX = 1_000
/** So that one address cannot fill the queue for everybody. */
const PENDING_PER_SOURCE_MAX = 100

export type RegistrationRow = Selectable<Tables['registrations']>
type Gateway = Pick<
  Selectable<Tables['gateways']>,
  'id' | 'name' | 'owner_id' | 'identity_public_key' | 'wireguard_public_key'
>

/** A registration whose signature, proof and seal were found right. */
export type Submission = {
  identityPublicKey: string
  wireguardPublicKey: string
  deviceName: string
  deviceLocation: string
  deviceVersion: string
  macAddress: string
  deviceToken: string
  sourceIp: string
}

/** The row that stands for these keys, made or refreshed. Throws `pending_limit_reached` or `key_invalid`. */
export async function submitRegistration(
  db: Kysely<Tables>,
  submission: Submission,
  now: number,
): Promise<Pick<RegistrationRow, 'id' | 'status'>> {
  await expirePending(db, now)
  return inTransaction(db, async (transaction) => {
    const { identityPublicKey, wireguardPublicKey } = submission
    const same = await transaction
      .selectFrom('registrations')
      .selectAll()
      .where('identity_public_key', '=', identityPublicKey)
      .where('wireguard_public_key', '=', wireguardPublicKey)
      .executeTakeFirst()
    const gateway = await gatewayOfKeys(transaction, identityPublicKey, wireguardPublicKey)
    const isMember =
      gateway?.identity_public_key === identityPublicKey && gateway.wireguard_public_key === wireguardPublicKey
    if (same?.status === 'rejected' || (same?.status === 'approved' && isMember)) return same
    if (!same && !gateway) {
      const rejected = await rejectionOf(transaction, identityPublicKey)
      if (rejected) return rejected
    }
    const details = {
      status: 'pending' as const,
      key_change_for: gateway?.id ?? null,
      device_name: submission.deviceName,
      device_location: submission.deviceLocation,
      device_version: submission.deviceVersion,
      mac_address: submission.macAddress,
      device_token: submission.deviceToken,
      source_ip: submission.sourceIp,
    }
    if (same?.status === 'pending') {
      await transaction.updateTable('registrations').set(details).where('id', '=', same.id).execute()
      return same
    }
    await checkRoom(transaction, submission.sourceIp)
    const fresh = { ...details, reason: null, gateway_id: null, requested_at: now, decided_at: null, decided_by: null }
    const id = same?.id ?? newRegistrationId()
    if (same) await transaction.updateTable('registrations').set(fresh).where('id', '=', id).execute()
    else
      await transaction
        .insertInto('registrations')
        .values({ id, identity_public_key: identityPublicKey, wireguard_public_key: wireguardPublicKey, ...fresh })
        .execute()
    await recordActivity(transaction, {
      at: now,
      type: 'info',
      message: gateway
        ? `Gateway "${gateway.name}" asks to change its keys, from ${submission.sourceIp}`
        : `New gateway "${submission.deviceName}" waits for approval, from ${submission.sourceIp}`,
      gatewayId: gateway?.id,
    })
    return { id, status: 'pending' }
  })
}

/** Oldest first: all for managers and admins, for a user those that they claimed. */
export async function listPending(
  db: Kysely<Tables>,
  caller: Caller,
  context: { now: number; hubIdentityPublicKey: string },
): Promise<PendingRegistration[]> {
  let query = db
    .selectFrom('registrations')
    .leftJoin('gateways', 'gateways.id', 'registrations.key_change_for')
    .selectAll('registrations')
    .select('gateways.name as gateway_name')
    .where('registrations.status', '=', 'pending')
    .where('registrations.requested_at', '>', context.now - PENDING_LIFETIME_MS)
  if (!hasRole(caller.role, 'manager')) query = query.where('registrations.owner_id', '=', caller.userId)
  const rows = await query.orderBy('registrations.requested_at').orderBy('registrations.id').execute()
  const hubFingerprint = fingerprint(context.hubIdentityPublicKey)
  return rows.map((row) => ({
    registrationId: row.id,
    deviceName: row.device_name,
    deviceLocation: row.device_location,
    sourceIp: row.source_ip,
    requestedAt: new Date(row.requested_at).toISOString(),
    deviceVersion: row.device_version,
    macAddress: row.mac_address,
    wireguardPublicKey: row.wireguard_public_key,
    status: 'pending',
    fingerprint: fingerprint(row.identity_public_key),
    hubFingerprint,
    keyChangeFor: row.gateway_name,
    trustedNetwork: false,
  }))
}

export type Decision = { id: string; caller: Caller; sourceIp: string; now: number }

/** Throws `registration_not_found` or `registration_decided`. */
export function rejectRegistration(
  db: Kysely<Tables>,
  { id, caller, sourceIp, now, reason }: Decision & { reason: string },
): Promise<{ deviceName: string }> {
  return inTransaction(db, async (transaction) => {
    const row = await takePending(transaction, id, now)
    await transaction
      .updateTable('registrations')
      .set({ status: 'rejected', reason, decided_at: now, decided_by: caller.username })
      .where('id', '=', id)
      .execute()
    await recordActivity(transaction, {
      at: now,
      type: 'warning',
      message: `Gateway "${row.device_name}" was rejected by ${caller.username}`,
      gatewayId: row.key_change_for ?? undefined,
    })
    await writeAudit(transaction, {
      actor: caller.username,
      actorId: caller.userId,
      action: 'registration.reject',
      target: id,
      sourceIp,
      result: 'ok',
    })
    return { deviceName: row.device_name }
  })
}

/** The pending row, for whoever decides it in this transaction. Throws `registration_not_found` or `registration_decided`. */
export async function takePending(transaction: Transaction<Tables>, id: string, now: number): Promise<RegistrationRow> {
  const row = await transaction.selectFrom('registrations').selectAll().where('id', '=', id).executeTakeFirst()
  if (row && row.status !== 'pending') throw new HubError('registration_decided')
  if (!row || row.requested_at <= now - PENDING_LIFETIME_MS) throw new HubError('registration_not_found')
  return row
}

/** Forgets requests that nobody decided for 7 days. The device, if it is still there, asks anew. */
export async function expirePending(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom('registrations')
    .where('status', '=', 'pending')
    .where('requested_at', '<=', now - PENDING_LIFETIME_MS)
    .execute()
}

/**
 * The gateway that has either key. Throws `key_invalid` when each belongs to another one: that would be no key change
 * but two devices in one.
 */
export async function gatewayOfKeys(
  db: Db,
  identityPublicKey: string,
  wireguardPublicKey: string,
): Promise<Gateway | undefined> {
  const found = await db
    .selectFrom('gateways')
    .select(['id', 'name', 'owner_id', 'identity_public_key', 'wireguard_public_key'])
    .where((row) =>
      row.or([
        row('identity_public_key', '=', identityPublicKey),
        row('wireguard_public_key', '=', wireguardPublicKey),
      ]),
    )
    .execute()
  if (found.length > 1)
    throw new HubError('key_invalid', { message: 'The two public keys belong to different gateways.' })
  return found[0]
}

function rejectionOf(db: Db, identityPublicKey: string): Promise<RegistrationRow | undefined> {
  return db
    .selectFrom('registrations')
    .selectAll()
    .where('identity_public_key', '=', identityPublicKey)
    .where('status', '=', 'rejected')
    .where('key_change_for', 'is', null)
    .orderBy('decided_at', 'desc')
    .executeTakeFirst()
}

async function checkRoom(db: Db, sourceIp: string): Promise<void> {
  const pending = await db.selectFrom('registrations').select('source_ip').where('status', '=', 'pending').execute()
  const source = sourceKey(sourceIp)
  const fromSource = pending.filter((row) => sourceKey(row.source_ip) === source)
  if (pending.length >= PENDING_MAX || fromSource.length >= PENDING_PER_SOURCE_MAX)
    throw new HubError('pending_limit_reached')
}

/** 20 lower-case base32 characters: 100 random bits. */
function newRegistrationId(): string {
  return base32(randomBytes(13)).slice(0, 20)
}
