/**
 * Gateway invitations: codes that a person hands out with devices, valid for a number of gateways until a time. The hub
 * stores only a hash, so a code is shown once, at its creation. A use counts in the approval's transaction, not at the
 * request, so that parallel requests cannot share the last one.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { GatewayInvitation, newGatewayInvitation, SearchQuery } from '@hedgerow/contract'
import { base32 } from '@hedgerow/enrolment'
import type { FastifyReply } from 'fastify'
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { z } from 'zod'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { holding } from '../database/holding.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import { by, record, type Act } from '../facts/facts.ts'

const HOUR_MS = 3_600_000

type Row = Selectable<Tables['gateway_invitations']>

/** Newest first. */
export async function listInvitations(
  db: Db,
  { query, reply, now }: { query: SearchQuery; reply: FastifyReply; now: number },
): Promise<GatewayInvitation[]> {
  const page = pageFrom(query, ['number', 'string'])
  let selection = db.selectFrom('gateway_invitations').selectAll()
  if (query.q) selection = selection.where(holding(query.q, ['label', 'created_by']))
  if (page.after) selection = selection.where(sql<boolean>`(created_at, id) < (${page.after[0]}, ${page.after[1]})`)
  if (page.rowsWanted !== undefined) selection = selection.limit(page.rowsWanted)
  const rows = await selection.orderBy('created_at', 'desc').orderBy('id', 'desc').execute()
  return sendPage(reply, rows, page, (row) => [row.created_at, row.id]).map((row) => present(row, now))
}

/** Only the answer holds the code. */
export async function createInvitation(
  db: Kysely<Tables>,
  wanted: z.output<typeof newGatewayInvitation>,
  act: Act,
): Promise<{ invitation: GatewayInvitation; code: string }> {
  const { actor, now } = act
  const code = newCode()
  const row: Row = {
    id: base32(randomBytes(8)).slice(0, 12),
    label: wanted.label,
    description: wanted.description,
    code_hash: hashOf(code),
    max_uses: wanted.maxUses,
    uses: 0,
    expires_at: now + wanted.expiresInHours * HOUR_MS,
    revoked_at: null,
    created_at: now,
    created_by: actor.username,
  }
  await inTransaction(db, async (transaction) => {
    await transaction.insertInto('gateway_invitations').values(row).execute()
    await record(transaction, { kind: 'gateway-invitation.created', ...about(row, act) })
  })
  return { invitation: present(row, now), code }
}

/** Revoking again changes nothing. Throws `invitation_not_found`. */
export async function revokeInvitation(db: Kysely<Tables>, id: string, act: Act): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const row = await transaction.selectFrom('gateway_invitations').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) throw new HubError('invitation_not_found')
    if (row.revoked_at !== null) return
    await transaction.updateTable('gateway_invitations').set({ revoked_at: act.now }).where('id', '=', id).execute()
    await record(transaction, { kind: 'gateway-invitation.revoked', ...about(row, act) })
  })
}

/** The id of the valid invitation with this code; undefined for any other code. */
export async function findValidInvitation(db: Db, code: string | undefined, now: number): Promise<string | undefined> {
  if (code === undefined) return undefined
  const row = await db
    .selectFrom('gateway_invitations')
    .selectAll()
    .where('code_hash', '=', hashOf(code))
    .executeTakeFirst()
  return row && statusOf(row, now) === 'active' ? row.id : undefined
}

/** Whether this invitation is valid now. */
export async function isValidInvitation(db: Db, id: string | null, now: number): Promise<boolean> {
  if (id === null) return false
  const row = await db.selectFrom('gateway_invitations').selectAll().where('id', '=', id).executeTakeFirst()
  return row !== undefined && statusOf(row, now) === 'active'
}

/** The labels of all invitations that are valid now, by id. */
export async function labelsOfValid(db: Db, now: number): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('gateway_invitations').selectAll().where('expires_at', '>', now).execute()
  return new Map(rows.filter((row) => statusOf(row, now) === 'active').map(({ id, label }) => [id, label]))
}

/** Counts a use of a valid invitation; returns it, or undefined when it is not valid. */
export async function useInvitation(
  transaction: Transaction<Tables>,
  id: string,
  now: number,
): Promise<Row | undefined> {
  return transaction
    .updateTable('gateway_invitations')
    .set((row) => ({ uses: row('uses', '+', 1) }))
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .whereRef('uses', '<', 'max_uses')
    .returningAll()
    .executeTakeFirst()
}

function present(row: Row, now: number): GatewayInvitation {
  return {
    id: row.id,
    label: row.label,
    status: statusOf(row, now),
    uses: row.uses,
    maxUses: row.max_uses,
    expiresAt: new Date(row.expires_at).toISOString(),
    createdAt: new Date(row.created_at).toISOString(),
    createdBy: row.created_by,
  }
}

function statusOf(row: Row, now: number): GatewayInvitation['status'] {
  if (row.revoked_at !== null) return 'revoked'
  if (row.uses >= row.max_uses) return 'used_up'
  return row.expires_at <= now ? 'expired' : 'active'
}

/** 100 random bits in five groups of four characters, easy to read out. */
function newCode(): string {
  return base32(randomBytes(13)).slice(0, 20).toUpperCase().match(/.{4}/g)!.join('-')
}

/** The hash of a code in any spelling. A random code needs no slow hash. */
function hashOf(code: string): string {
  return createHash('sha256').update(code.replaceAll(/[\s-]/g, '').toUpperCase()).digest('base64')
}

function about({ id, label }: Row, act: Act) {
  return { ...by(act), target: id, data: { label } }
}
