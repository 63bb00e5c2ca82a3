/**
 * What happens when a verified registration comes in: its row is written, and either a rule of the auto-approval
 * settings approves it there and then, or it waits and people are told. All of that is one transaction. A rule that
 * cannot be followed (no room, no address, the token is taken) leaves the request waiting like any other.
 */
import type { ErrorCode } from '@hedgerow/contract'
import { fingerprint } from '@hedgerow/enrolment'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { HUB, record } from '../kernel/facts.ts'
import { approveRegistration } from './approval.ts'
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

export type Admitted = Pick<Submitted, 'id' | 'status' | 'tookPlace'>

type Context = {
  now: number
  /** Without a tunnel nothing can be approved. */
  canApprove: boolean
}

/** Throws `pending_limit_reached` or `key_invalid`. */
export async function admitRegistration(
  db: Kysely<Tables>,
  registration: Omit<Submission, 'invitationId'> & { invitationCode: string | undefined },
  context: Context,
): Promise<Admitted> {
  const { now, canApprove } = context
  const { invitationCode, ...details } = registration
  await expirePending(db, now)

  const admit = (mayApprove: boolean): Promise<Admitted> =>
    inTransaction(db, async (transaction) => {
      const invitationId = await findValidInvitation(transaction, invitationCode, now)
      const submitted = await submitRegistration(transaction, { ...details, invitationId }, now)
      const { id, status } = submitted
      const { tookPlace } = submitted
      if (status !== 'pending') return { id, status, tookPlace }
      // With a full queue there is nothing new to tell: a flood must not fill the log, the audit and the mailbox.
      const isNews = submitted.isNew && !tookPlace
      const { sourceIp, deviceName, deviceLocation, deviceVersion, macAddress } = details
      const about = { at: now, actor: { name: 'gateway', sourceIp }, target: id }
      if (isNews) await record(transaction, { ...about, kind: 'registration.requested', data: { deviceName } })
      const rule =
        mayApprove && !submitted.needsPerson
          ? await ruleThatApproves(transaction, sourceIp, invitationId !== undefined)
          : undefined
      if (rule !== undefined) {
        await approveRegistration(transaction, { id, actor: { ...HUB, sourceIp }, now, rule })
        return { id, status: 'approved', tookPlace }
      }
      if (isNews) {
        const { keyChangeFor = null } = submitted
        await record(transaction, {
          ...about,
          kind: 'registration.pending',
          gatewayId: keyChangeFor?.id,
          data: {
            deviceName,
            deviceLocation,
            deviceVersion,
            macAddress,
            fingerprint: fingerprint(details.identityPublicKey),
            keyChangeFor,
          },
        })
      }
      return { id, status, tookPlace }
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
