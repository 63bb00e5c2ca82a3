/**
 * Devices that a rule approves but the hub cannot admit: it is full, has no free address, another gateway has the
 * token, or the tunnel is off. Each waits with the reason (`waits_for`) and is admitted by the same rules when the
 * reason ends.
 */
import { registrationHold, type RegistrationHold } from '@hedgerow/contract'
import { fingerprint } from '@hedgerow/enrolment'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HUB, record } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { readSettings } from '../settings/settings.ts'
import { approveRegistration } from './approval.ts'
import { decide } from './auto-approval.ts'
import { readAutoApproval } from './auto-approval-settings.ts'
import { oldestPending } from './enrolment.ts'
import { isValidInvitation } from './invitations.ts'

/** The hold for a failed approval; undefined when the request itself is at fault. */
export function holdOf(error: unknown): RegistrationHold | undefined {
  return error instanceof HubError ? registrationHold.safeParse(error.code).data : undefined
}

/** Returns a sentence for each reason, with the hub's current numbers. */
export async function holdsInWords(db: Db): Promise<(hold: RegistrationHold) => string> {
  const { maxGateways, vpnNetwork } = await readSettings(db)
  const { count } = await db
    .selectFrom('gateways')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const words: Record<RegistrationHold, string> = {
    gateway_limit_reached: `The hub is full: ${count} of ${maxGateways} gateways.`,
    address_pool_exhausted: `No address is free in ${vpnNetwork}.`,
    device_token_taken: 'Another gateway has the same device token.',
    vpn_disabled: "The hub's VPN does not run.",
  }
  return (hold) => words[hold]
}

/**
 * Approves held requests, oldest first, until the hub is full again. A request that no rule approves any more waits for
 * a person.
 */
export async function admitHeld(
  db: Kysely<Tables>,
  { clock, canApprove }: { clock: () => number; canApprove: () => boolean },
): Promise<void> {
  if (!canApprove()) return
  const held = await db
    .selectFrom('registrations')
    .select('id')
    .where('status', '=', 'pending')
    .where('waits_for', 'is not', null)
    .orderBy('requested_at')
    .orderBy('id')
    .execute()
  for (const { id } of held) {
    try {
      await admitOne(db, id, clock())
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      const hold = holdOf(error)
      await db
        .updateTable('registrations')
        .set({ waits_for: hold ?? null })
        .where('id', '=', id)
        .where('waits_for', 'is not', null)
        .execute()
      // A taken token holds one device; every other reason holds all later ones too.
      if (hold !== undefined && hold !== 'device_token_taken') return
    }
  }
}

function admitOne(db: Kysely<Tables>, id: string, now: number): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const row = await transaction
      .selectFrom('registrations')
      .selectAll()
      .where('id', '=', id)
      .where('status', '=', 'pending')
      .where('waits_for', 'is not', null)
      .where('requested_at', '>', await oldestPending(transaction, now))
      .executeTakeFirst()
    if (!row) return
    const { source_ip: sourceIp, invitation_id: invitationId } = row
    const isInvited = await isValidInvitation(transaction, invitationId, now)
    const { approve, reason } = decide(await readAutoApproval(transaction), { sourceIp, isInvited })
    await transaction.updateTable('registrations').set({ waits_for: null }).where('id', '=', id).execute()
    if (approve && row.needs_person === 0) {
      await approveRegistration(transaction, { id, at: now, actor: { ...HUB, sourceIp }, rule: reason })
      return
    }
    await record(transaction, {
      kind: 'registration.pending',
      at: now,
      actor: { name: 'gateway', sourceIp },
      target: id,
      data: {
        deviceName: row.device_name,
        deviceLocation: row.device_location,
        deviceVersion: row.device_version,
        macAddress: row.mac_address,
        fingerprint: fingerprint(row.identity_public_key),
        keyChangeFor: null,
      },
    })
  })
}
