/**
 * Requests of devices to join: submitted by the enrolment handshake (admission.ts) and rejected by people (approval.ts
 * approves, lists.ts lists). A device is its keys: the same keys are always the same request, and a rejected identity
 * stays rejected. A known gateway with one new key waits as a key change while the old key still works.
 */
import { randomBytes } from 'node:crypto'
import { base32 } from '@hedgerow/enrolment'
import type { RegistrationHold } from '@hedgerow/contract'
import type { Kysely, Selectable, Transaction } from 'kysely'
import { isAfterLeap } from '../database/clock-leaps.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { OWNED } from '../access/ownership.ts'
import { HubError } from '../kernel/hub-error.ts'
import { record, type Authorship } from '../facts/facts.ts'
import { makeRoom } from './queue.ts'

const PENDING_LIFETIME_MS = 7 * 24 * 3_600_000

export type RegistrationRow = Selectable<Tables['registrations']>
type Gateway = Pick<
  Selectable<Tables['gateways']>,
  'id' | 'name' | typeof OWNED | 'identity_public_key' | 'wireguard_public_key'
>

/** A registration with verified signature, proof and seal. */
export type Submission = {
  identityPublicKey: string
  wireguardPublicKey: string
  deviceName: string
  deviceLocation: string
  deviceVersion: string
  macAddress: string
  deviceToken: string
  sourceIp: string
  /** The id of its invitation, if that is valid now. */
  invitationId: string | undefined
}

export type Submitted = Pick<RegistrationRow, 'id' | 'status'> & {
  /** A request that was not waiting before. */
  isNew: boolean
  /** The queue was full, and another request was dropped for this one. */
  tookPlace: boolean
  /** It changes a gateway's keys, or asks for a deleted gateway again: only a person may approve it. */
  needsPerson: boolean
  /** Why it waited before although a rule approved it. */
  waitedFor: RegistrationHold | null
  /** The gateway whose keys it would change. */
  keyChangeFor: { id: string; name: string } | undefined
}

/** Creates or updates the row of these keys. Throws `pending_limit_reached` or `key_invalid`. */
export function submitRegistration(db: Db, submission: Submission, now: number): Promise<Submitted> {
  return inTransaction(db, async (transaction) => {
    const { identityPublicKey, wireguardPublicKey } = submission
    const decided = ({ id, status }: RegistrationRow): Submitted => ({
      id,
      status,
      isNew: false,
      tookPlace: false,
      needsPerson: true,
      waitedFor: null,
      keyChangeFor: undefined,
    })
    const same = await transaction
      .selectFrom('registrations')
      .selectAll()
      .where('identity_public_key', '=', identityPublicKey)
      .where('wireguard_public_key', '=', wireguardPublicKey)
      .executeTakeFirst()
    const gateway = await gatewayOfKeys(transaction, identityPublicKey, wireguardPublicKey)
    const isMember =
      gateway?.identity_public_key === identityPublicKey && gateway.wireguard_public_key === wireguardPublicKey
    if (same?.status === 'rejected' || (same?.status === 'approved' && isMember)) return decided(same)
    if (!same && !gateway) {
      const rejected = await rejectionOf(transaction, identityPublicKey)
      if (rejected) return decided(rejected)
    }
    const needsPerson = gateway !== undefined || (await wasDeleted(transaction, identityPublicKey))
    const details = {
      status: 'pending' as const,
      key_change_for: gateway?.id ?? null,
      device_name: submission.deviceName,
      device_location: submission.deviceLocation,
      device_version: submission.deviceVersion,
      mac_address: submission.macAddress,
      device_token: submission.deviceToken,
      source_ip: submission.sourceIp,
      invitation_id: submission.invitationId ?? null,
      needs_person: Number(needsPerson),
    }
    const submitted = {
      status: details.status,
      needsPerson,
      keyChangeFor: gateway && { id: gateway.id, name: gateway.name },
    }
    if (same?.status === 'pending') {
      await transaction.updateTable('registrations').set(details).where('id', '=', same.id).execute()
      return { ...submitted, id: same.id, isNew: false, tookPlace: false, waitedFor: same.waits_for }
    }
    const { sourceIp, invitationId } = submission
    const tookPlace = await makeRoom(transaction, { sourceIp, invitationId, keyChangeFor: gateway?.id }, now)
    const undecided = { reason: null, waits_for: null, gateway_id: null, decided_at: null, decided_by: null }
    const fresh = { ...details, ...undecided, requested_at: now }
    const id = same?.id ?? newRegistrationId()
    if (same) await transaction.updateTable('registrations').set(fresh).where('id', '=', id).execute()
    else
      await transaction
        .insertInto('registrations')
        .values({ id, identity_public_key: identityPublicKey, wireguard_public_key: wireguardPublicKey, ...fresh })
        .execute()
    return { ...submitted, id, isNew: true, tookPlace, waitedFor: null }
  })
}

/** The actor is a person, or the hub itself under its own rules. */
export type Decision = Authorship & { id: string }

/** Throws `registration_not_found` or `registration_decided`. */
export function rejectRegistration(
  db: Kysely<Tables>,
  { id, reason, ...author }: Decision & { reason: string },
): Promise<{ deviceName: string }> {
  return inTransaction(db, async (transaction) => {
    const row = await takePending(transaction, id, author.at)
    await transaction
      .updateTable('registrations')
      .set({ status: 'rejected', reason, decided_at: author.at, decided_by: author.actor.name })
      .where('id', '=', id)
      .execute()
    await record(transaction, {
      kind: 'registration.rejected',
      ...author,
      target: id,
      gatewayId: row.key_change_for ?? undefined,
      data: { deviceName: row.device_name },
    })
    return { deviceName: row.device_name }
  })
}

/**
 * Lifts the rejection of a device, with all its keys: its next request waits like any other. Throws
 * `registration_not_found` for one that is not rejected.
 */
export function liftRejection(db: Kysely<Tables>, { id, ...author }: Decision): Promise<{ deviceName: string }> {
  return inTransaction(db, async (transaction) => {
    const row = await transaction
      .selectFrom('registrations')
      .select(['device_name', 'identity_public_key'])
      .where('id', '=', id)
      .where('status', '=', 'rejected')
      .executeTakeFirst()
    if (!row) throw new HubError('registration_not_found')
    await transaction
      .deleteFrom('registrations')
      .where('identity_public_key', '=', row.identity_public_key)
      .where('status', '=', 'rejected')
      .execute()
    await record(transaction, {
      kind: 'registration.lifted',
      ...author,
      target: id,
      data: { deviceName: row.device_name },
    })
    return { deviceName: row.device_name }
  })
}

/**
 * The pending row, locked for a decision in this transaction. Throws `registration_not_found` or
 * `registration_decided`.
 */
export async function takePending(transaction: Transaction<Tables>, id: string, now: number): Promise<RegistrationRow> {
  const row = await transaction.selectFrom('registrations').selectAll().where('id', '=', id).executeTakeFirst()
  if (row && row.status !== 'pending') throw new HubError('registration_decided')
  if (!row || row.requested_at <= (await oldestPending(transaction, now))) throw new HubError('registration_not_found')
  return row
}

/**
 * Pending requests that were made then or before are over. None is within a day after a leap of the clock: they may be
 * younger than they look.
 */
export async function oldestPending(db: Db, now: number): Promise<number> {
  return (await isAfterLeap(db, now)) ? 0 : now - PENDING_LIFETIME_MS
}

/** Deletes requests that nobody decided for 7 days. A device that is still there asks again. */
export async function expirePending(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom('registrations')
    .where('status', '=', 'pending')
    .where('requested_at', '<=', await oldestPending(db, now))
    .execute()
}

/** The gateway that has either key. Throws `key_invalid` when the keys belong to two gateways. */
export async function gatewayOfKeys(
  db: Db,
  identityPublicKey: string,
  wireguardPublicKey: string,
): Promise<Gateway | undefined> {
  const found = await db
    .selectFrom('gateways')
    .select(['id', 'name', OWNED, 'identity_public_key', 'wireguard_public_key'])
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

/** Whether this identity had a gateway that was deleted: no rule approves it again. */
async function wasDeleted(db: Db, identityPublicKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('registrations')
    .select('id')
    .where('identity_public_key', '=', identityPublicKey)
    .where((row) =>
      row.or([row('needs_person', '=', 1), row.and([row('status', '=', 'approved'), row('gateway_id', 'is', null)])]),
    )
    .executeTakeFirst()
  return row !== undefined
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

/** 20 lower-case base32 characters: 100 random bits. */
function newRegistrationId(): string {
  return base32(randomBytes(13)).slice(0, 20)
}
