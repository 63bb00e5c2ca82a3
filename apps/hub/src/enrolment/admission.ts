/**
 * What happens when a verified registration comes in: its row is written, and either a rule of the auto-approval settings
 * approves it there and then, or it waits and people are told. All of that is one transaction. A rule that cannot be
 * followed (no room, no address, the token is taken) leaves the request waiting like any other.
 */
import type { ErrorCode } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import { recordActivity } from '../activity/activity.ts'
import { writeAudit } from '../audit/audit.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Announce } from '../notifications/notifications.ts'
import { approveRegistration, type Approved } from './approval.ts'
import { decide } from './auto-approval.ts'
import { readAutoApproval } from './auto-approval-settings.ts'
import { findValidInvitation } from './invitations.ts'
import { expirePending, submitRegistration, type Submission, type Submitted } from './enrolment.ts'

/** Why an approval may fail that does not concern the request as such. */
const KEEPS_WAITING: readonly ErrorCode[] = [
  'gateway_limit_reached',
  'address_pool_exhausted',
  'device_token_taken',
  'registration_decided',
]

export type Admitted = Pick<Submitted, 'id' | 'status' | 'tookPlace'> & {
  /** What a rule made of it: to be put into the tunnel. */
  approved: Approved | undefined
}

type Context = {
  now: number
  announce: Announce
  /** Without a tunnel nothing can be approved. */
  canApprove: boolean
}

/** Throws `pending_limit_reached` or `key_invalid`. */
export async function admitRegistration(
  db: Kysely<Tables>,
  registration: Omit<Submission, 'invitationId'> & { invitationCode: string | undefined },
  context: Context,
): Promise<Admitted> {
  const { now, announce, canApprove } = context
  const { invitationCode, ...details } = registration
  await expirePending(db, now)

  const admit = (mayApprove: boolean): Promise<Admitted> =>
    inTransaction(db, async (transaction) => {
      const invitationId = await findValidInvitation(transaction, invitationCode, now)
      const submitted = await submitRegistration(transaction, { ...details, invitationId }, now)
      const { id, status } = submitted
      const { tookPlace } = submitted
      if (status !== 'pending') return { id, status, tookPlace, approved: undefined }
      // With a full queue there is nothing new to tell: a flood must not fill the audit, the activity and the mailbox.
      const isNews = submitted.isNew && !submitted.tookPlace
      if (isNews) {
        const { sourceIp } = details
        await writeAudit(transaction, {
          actor: 'gateway',
          action: 'registration.request',
          target: id,
          sourceIp,
          result: 'ok',
        })
      }
      const rule =
        mayApprove && !submitted.needsPerson
          ? await ruleThatApproves(transaction, details.sourceIp, invitationId !== undefined)
          : undefined
      if (rule !== undefined) {
        const decision = { id, by: { username: 'hub' }, sourceIp: details.sourceIp, now, rule }
        return { id, status: 'approved', tookPlace, approved: await approveRegistration(transaction, decision) }
      }
      if (isNews) {
        await recordActivity(transaction, {
          at: now,
          type: 'info',
          message: waitingMessage(details, submitted),
          gatewayId: submitted.keyChangeFor?.id,
        })
        await announce(transaction, pendingAnnouncement(details, submitted, now))
      }
      return { id, status, tookPlace, approved: undefined }
    })

  try {
    return await admit(canApprove)
  } catch (error) {
    if (!(error instanceof HubError) || !KEEPS_WAITING.includes(error.code)) throw error
    return admit(false)
  }
}

async function ruleThatApproves(db: Db, sourceIp: string, hasValidInvitation: boolean): Promise<string | undefined> {
  const { approve, reason } = decide(await readAutoApproval(db), { sourceIp, hasValidInvitation })
  return approve ? reason : undefined
}

type Details = Pick<Submission, 'deviceName' | 'deviceLocation' | 'sourceIp' | 'macAddress' | 'deviceVersion'>

function waitingMessage({ deviceName, sourceIp }: Details, { keyChangeFor }: Submitted): string {
  return keyChangeFor === undefined
    ? `New gateway "${deviceName}" waits for approval, from ${sourceIp}`
    : `Gateway "${keyChangeFor.name}" asks to change its keys, from ${sourceIp}`
}

function pendingAnnouncement(details: Details, submitted: Submitted, now: number): Parameters<Announce>[1] {
  const { deviceName, deviceLocation, sourceIp, macAddress, deviceVersion } = details
  const { id, keyChangeFor } = submitted
  return {
    // A device whose request expired or was lifted asks anew, and that is news again.
    key: `registration.pending ${id} ${Math.floor(now)}`,
    kind: 'registration.pending',
    title: waitingMessage(details, submitted),
    text: [
      `Device: ${deviceName}`,
      `Location: ${deviceLocation || 'Not specified'}`,
      `From: ${sourceIp}`,
      `MAC address: ${macAddress || 'N/A'}`,
      `Version: ${deviceVersion}`,
      'Compare its fingerprint with what the device shows, then approve or reject it under Pending Gateway Registrations.',
    ].join('\n'),
    data: {
      registrationId: id,
      deviceName,
      deviceLocation,
      sourceIp,
      macAddress,
      deviceVersion,
      keyChangeFor: keyChangeFor?.id ?? null,
    },
  }
}
