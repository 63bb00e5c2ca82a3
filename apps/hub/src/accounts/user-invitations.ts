import type { Role, SearchQuery, UserInvitation } from '@hedgerow/contract'
import type { FastifyReply } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { holding } from '../database/holding.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import { toUserInvitation } from './accounts.ts'
import { hashCode } from './codes.ts'

/** Newest first. */
export async function listUserInvitations(
  db: Db,
  { query, reply, now }: { query: SearchQuery; reply: FastifyReply; now: number },
): Promise<UserInvitation[]> {
  const page = pageFrom(query, ['number', 'string'])
  let selection = db.selectFrom('user_invitations').selectAll()
  if (query.q) selection = selection.where(holding(query.q, ['label', 'role', 'created_by']))
  if (page.after) selection = selection.where(sql<boolean>`(created_at, id) < (${page.after[0]}, ${page.after[1]})`)
  if (page.rowsWanted !== undefined) selection = selection.limit(page.rowsWanted)
  const rows = await selection.orderBy('created_at', 'desc').orderBy('id', 'desc').execute()
  return sendPage(reply, rows, page, (row) => [row.created_at, row.id]).map((row) => toUserInvitation(row, now))
}

/** Throws `user_invitation_not_found`, also for one that is already revoked. */
export async function revokeUserInvitation(db: Db, id: string, act: Act): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const revoked = await transaction
      .updateTable('user_invitations')
      .set({ revoked_at: act.now })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .returning(['label', 'role'])
      .executeTakeFirst()
    if (!revoked) throw new HubError('user_invitation_not_found')
    await record(transaction, {
      kind: 'user-invitation.revoked',
      ...by(act),
      target: id,
      data: revoked,
    })
  })
}

/** Whether `useInvitation` would accept the code now, so that a wrong one costs no hashing. */
export async function isInvitationValid(db: Db, code: string, now: number): Promise<boolean> {
  const row = await db
    .selectFrom('user_invitations')
    .selectAll()
    .where('code_hash', '=', hashCode(code))
    .executeTakeFirst()
  return row !== undefined && toUserInvitation(row, now).status === 'active'
}

/** Counts one use and returns the invitation's role. Throws `invite_code_invalid`. */
export async function useInvitation(db: Db, code: string, now: number): Promise<Role> {
  const used = await db
    .updateTable('user_invitations')
    .set({ uses: sql`uses + 1` })
    .where('code_hash', '=', hashCode(code))
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .whereRef('uses', '<', 'max_uses')
    .returning('role')
    .executeTakeFirst()
  if (!used)
    throw new HubError('invite_code_invalid', {
      fieldErrors: { inviteCode: new HubError('invite_code_invalid').message },
    })
  return used.role
}
