/**
 * Gateway invitations: codes that a person hands out with devices, valid for a number of gateways until a time. The hub
 * stores only a hash, so a code is shown once, at its creation. A use counts in the approval's transaction, not at the
 * request, so that parallel requests cannot share the last one.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Arrival, GatewayInvitation, newGatewayInvitation, SearchQuery, SiteName } from '@hedgerow/contract'
import { base32, fingerprint } from '@hedgerow/enrolment'
import type { FastifyReply } from 'fastify'
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { z } from 'zod'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { tagsOf } from '../database/tags.ts'
import { HubError } from '../kernel/hub-error.ts'
import { invitationsWithOwner, ownerNamed } from '../access/objects.ts'
import type { Owned } from '../access/ownership.ts'
import { holding } from '../database/holding.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import { by, nameOf, record, type Act } from '../facts/facts.ts'
import { findSite, siteOf } from '../sites/sites.ts'
import { readLabels } from './labels.ts'

const HOUR_MS = 3_600_000

type Row = Selectable<Tables['gateway_invitations']>
export type NewInvitation = z.output<typeof newGatewayInvitation>

/** Newest first. */
export async function listInvitations(
  db: Db,
  { query, reply, now }: { query: SearchQuery; reply: FastifyReply; now: number },
): Promise<GatewayInvitation[]> {
  const page = pageFrom(query, ['number', 'string'])
  let selection = invitationsWithOwner(db)
  if (query.q) selection = selection.where(holding(query.q, ['label', 'created_by', 'location', 'sites.name']))
  if (page.after)
    selection = selection.where(
      sql<boolean>`(gateway_invitations.created_at, gateway_invitations.id) < (${page.after[0]}, ${page.after[1]})`,
    )
  if (page.rowsWanted !== undefined) selection = selection.limit(page.rowsWanted)
  const rows = await selection
    .orderBy('gateway_invitations.created_at', 'desc')
    .orderBy('gateway_invitations.id', 'desc')
    .execute()
  return sendPage(reply, rows, page, (row) => [row.created_at, row.id]).map((row) => present(row, now))
}

export type MadeInvitation = { invitation: GatewayInvitation; code: string }

/** Only the answer holds the code. Throws `site_not_found`, and `user_not_found` or `role_required` for the owner. */
export async function createInvitation(db: Kysely<Tables>, wanted: NewInvitation, act: Act): Promise<MadeInvitation> {
  const site = wanted.siteId === null ? null : await findSite(db, wanted.siteId)
  const made = newInvitation({ ...wanted, site }, await ownerNamed(db, wanted.owner, act.actor), act)
  await inTransaction(db, async (transaction) => {
    await transaction.insertInto('gateway_invitations').values(made.row).execute()
    await record(transaction, { kind: 'gateway-invitation.created', ...about(made.row, act) })
  })
  return made.answer
}

/** One for each label: all or none. Only the answer holds the codes. Throws `labels_invalid`. */
export async function createLabels(
  db: Kysely<Tables>,
  { csv, ...limits }: { csv: string; approves: boolean; expiresInHours: number },
  act: Act,
): Promise<MadeInvitation[]> {
  const labels = await readLabels(db, csv, act)
  const made = labels.map(({ owner, ...label }) =>
    newInvitation({ ...label, ...limits, site: null, label: label.name, description: '', maxUses: 1 }, owner, act),
  )
  const count = made.length
  await inTransaction(db, async (transaction) => {
    await transaction
      .insertInto('gateway_invitations')
      .values(made.map(({ row }) => row))
      .execute()
    await record(transaction, { kind: 'gateway-labels.created', ...by(act), target: String(count), data: { count } })
  })
  return made.map(({ answer }) => answer)
}

function newInvitation(
  wanted: Omit<NewInvitation, 'owner' | 'siteId'> & { site: SiteName | null },
  { owner, ...owned }: Owned & { owner: string | null },
  { actor, now }: Act,
): { row: Row; answer: MadeInvitation } {
  const code = newCode()
  const row: Row = {
    id: base32(randomBytes(8)).slice(0, 12),
    label: wanted.label,
    name: wanted.name,
    location: wanted.location,
    site_id: wanted.site?.id ?? null,
    description: wanted.description,
    tags: JSON.stringify(wanted.tags),
    approves: Number(wanted.approves),
    code_hash: hashOf(code),
    max_uses: wanted.maxUses,
    uses: 0,
    expires_at: now + wanted.expiresInHours * HOUR_MS,
    revoked_at: null,
    created_at: now,
    created_by: nameOf(actor),
    ...owned,
  }
  return { row, answer: { invitation: present({ ...row, owner, site_name: wanted.site?.name ?? null }, now), code } }
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

/** The invitation with this code, valid or not. */
export async function findInvitation(db: Db, code: string | undefined): Promise<Row | undefined> {
  if (code === undefined) return undefined
  return db.selectFrom('gateway_invitations').selectAll().where('code_hash', '=', hashOf(code)).executeTakeFirst()
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

/** What came with these invitations, oldest first, without deleted gateways. */
export async function listArrivals(db: Db, invitationIds: readonly string[]): Promise<Arrival[]> {
  const rows = await db
    .selectFrom('registrations')
    .leftJoin('gateways', 'gateways.id', 'registrations.gateway_id')
    .selectAll('registrations')
    .select('gateways.name as gateway_name')
    .where('registrations.invitation_id', 'in', [...invitationIds])
    .where((row) => row.or([row('status', '!=', 'approved'), row('gateway_id', 'is not', null)]))
    .orderBy('requested_at')
    .orderBy('registrations.id')
    .execute()
  return rows.map((row) => ({
    invitationId: row.invitation_id!,
    registrationId: row.id,
    name: row.gateway_name ?? row.device_name,
    status: row.status,
    fingerprint: fingerprint(row.identity_public_key),
    requestedAt: new Date(row.requested_at).toISOString(),
    decidedAt: row.decided_at === null ? null : new Date(row.decided_at).toISOString(),
    gatewayId: row.gateway_id,
  }))
}

function present(row: Row & { owner: string | null; site_name: string | null }, now: number): GatewayInvitation {
  return {
    id: row.id,
    label: row.label,
    name: row.name,
    location: row.location,
    site: siteOf(row),
    tags: tagsOf(row),
    owner: row.owner,
    approves: row.approves === 1,
    status: statusOf(row, now),
    uses: row.uses,
    maxUses: row.max_uses,
    expiresAt: new Date(row.expires_at).toISOString(),
    createdAt: new Date(row.created_at).toISOString(),
    createdBy: row.created_by,
  }
}

export function statusOf(row: Row, now: number): GatewayInvitation['status'] {
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
