/**
 * Admits a verified registration in one transaction: writes its row, then either a rule of the auto-approval settings
 * approves it at once, or it waits and people are notified. When a rule approves it but the hub cannot (no room, no
 * address, the token is taken), the request waits with the reason and is admitted when the reason ends.
 */
import type { RegistrationHold } from '@hedgerow/contract'
import { fingerprint } from '@hedgerow/enrolment'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { HUB, record } from '../facts/facts.ts'
import { approveRegistration } from './approval.ts'
import { decide } from './auto-approval.ts'
import { readAutoApproval } from './auto-approval-settings.ts'
import { holdOf, holdsInWords } from './holds.ts'
import { findInvitation, statusOf } from './invitations.ts'
import { expirePending, submitRegistration, type Submission, type Submitted } from './enrolment.ts'

export type Admitted = Pick<Submitted, 'id' | 'status' | 'tookPlace'> & {
  /** Its invitation's code is one that the hub never made. */
  isGuess: boolean
}

type Context = {
  now: number
  /** False without a tunnel: nothing can be approved then. */
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

  /** `hold`: why a rule's approval cannot be carried out now. */
  const admit = (mayApprove: boolean, hold?: RegistrationHold): Promise<Admitted> =>
    inTransaction(db, async (transaction) => {
      const found = await findInvitation(transaction, invitationCode)
      const isGuess = invitationCode !== undefined && found === undefined
      const invitation = found && statusOf(found, now) === 'active' ? found : undefined
      const submitted = await submitRegistration(transaction, { ...details, invitationId: invitation?.id }, now)
      const { id, status } = submitted
      const { tookPlace } = submitted
      if (status !== 'pending') return { id, status, tookPlace, isGuess }
      // A request that fills a full queue notifies nobody: a flood must not fill the log, the audit and the mailbox.
      const isNews = submitted.isNew && !tookPlace
      const { sourceIp, deviceName, deviceLocation, deviceVersion, macAddress } = details
      const about = { at: now, actor: { name: 'gateway', sourceIp }, target: id }
      if (isNews) await record(transaction, { ...about, kind: 'registration.requested', data: { deviceName } })
      const rule = submitted.needsPerson
        ? undefined
        : await ruleThatApproves(transaction, sourceIp, invitation?.approves === 1)
      if (mayApprove && rule !== undefined) {
        await approveRegistration(transaction, { id, at: now, actor: { ...HUB, sourceIp }, rule })
        return { id, status: 'approved', tookPlace, isGuess }
      }
      const waitsFor = (rule !== undefined && hold) || null
      await transaction.updateTable('registrations').set({ waits_for: waitsFor }).where('id', '=', id).execute()
      if (waitsFor && waitsFor !== submitted.waitedFor && !tookPlace) {
        const reason = (await holdsInWords(transaction))(waitsFor)
        await record(transaction, { ...about, kind: 'registration.held', data: { deviceName, waitsFor, reason } })
      } else if (isNews) {
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
      return { id, status, tookPlace, isGuess }
    })

  try {
    return await (canApprove ? admit(true) : admit(false, 'vpn_disabled'))
  } catch (error) {
    const hold = holdOf(error)
    // A concurrent approval with the same keys was first.
    const isDecided = error instanceof HubError && error.code === 'registration_decided'
    if (hold === undefined && !isDecided) throw error
    return admit(false, hold)
  }
}

async function ruleThatApproves(db: Db, sourceIp: string, isInvited: boolean): Promise<string | undefined> {
  const { approve, reason } = decide(await readAutoApproval(db), { sourceIp, isInvited })
  return approve ? reason : undefined
}
