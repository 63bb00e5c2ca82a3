/** The lists of requests for people: waiting ones, with what helps to decide, and rejected ones. */
import type { PendingRegistration, RejectedRegistration, SearchQuery } from '@hedgerow/contract'
import { fingerprint } from '@hedgerow/enrolment'
import type { FastifyReply } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../database/tables.ts'
import { holding } from '../database/holding.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import { registrationsIn } from '../access/objects.ts'
import type { Scope } from '../access/scope.ts'
import { readAutoApproval } from './auto-approval-settings.ts'
import { oldestPending } from './enrolment.ts'
import { holdsInWords } from './holds.ts'
import { labelsOfValid } from './invitations.ts'
import { createFindTrusted } from './trusted-sources.ts'

const SORTED_BY = ['number', 'string'] as const

type ListRequest = { query: SearchQuery; reply: FastifyReply }

/** Oldest first: all for managers and admins; for users those that they claimed. */
export async function listPending(
  db: Db,
  scope: Scope,
  { query, reply, now, hubIdentityPublicKey }: ListRequest & { now: number; hubIdentityPublicKey: string },
): Promise<PendingRegistration[]> {
  const page = pageFrom(query, SORTED_BY)
  let selection = registrationsIn(db, scope)
    .leftJoin('gateways', 'gateways.id', 'registrations.key_change_for')
    .selectAll('registrations')
    .select('gateways.name as gateway_name')
    .where('registrations.status', '=', 'pending')
    .where('registrations.requested_at', '>', await oldestPending(db, now))
  if (query.q) selection = selection.where(matching(query.q))
  if (page.after)
    selection = selection.where(
      sql<boolean>`(registrations.requested_at, registrations.id) > (${page.after[0]}, ${page.after[1]})`,
    )
  if (page.rowsWanted !== undefined) selection = selection.limit(page.rowsWanted)
  const rows = await selection.orderBy('registrations.requested_at').orderBy('registrations.id').execute()
  const hubFingerprint = fingerprint(hubIdentityPublicKey)
  const settings = await readAutoApproval(db)
  const findTrusted = createFindTrusted(settings)
  const invitations = await labelsOfValid(db, now)
  const reasonOf = await holdsInWords(db)
  return sendPage(reply, rows, page, (row) => [row.requested_at, row.id]).map((row) => ({
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
    trustedNetwork: settings.enabled && findTrusted(row.source_ip) !== undefined,
    invitation: invitations.get(row.invitation_id ?? '') ?? null,
    waitsFor: row.waits_for && { code: row.waits_for, message: reasonOf(row.waits_for) },
  }))
}

/** Newest first. */
export async function listRejected(db: Db, { query, reply }: ListRequest): Promise<RejectedRegistration[]> {
  const page = pageFrom(query, SORTED_BY)
  let selection = db.selectFrom('registrations').selectAll().where('status', '=', 'rejected')
  if (query.q) selection = selection.where(matching(query.q))
  if (page.after) selection = selection.where(sql<boolean>`(decided_at, id) < (${page.after[0]}, ${page.after[1]})`)
  if (page.rowsWanted !== undefined) selection = selection.limit(page.rowsWanted)
  const rows = await selection.orderBy('decided_at', 'desc').orderBy('id', 'desc').execute()
  return sendPage(reply, rows, page, (row) => [row.decided_at ?? 0, row.id]).map((row) => ({
    registrationId: row.id,
    deviceName: row.device_name,
    deviceLocation: row.device_location,
    sourceIp: row.source_ip,
    requestedAt: new Date(row.requested_at).toISOString(),
    rejectedAt: new Date(row.decided_at ?? 0).toISOString(),
    rejectedBy: row.decided_by ?? '',
    reason: row.reason ?? '',
    fingerprint: fingerprint(row.identity_public_key),
  }))
}

function matching(text: string) {
  return holding(text, ['device_name', 'device_location', 'registrations.source_ip', 'mac_address'])
}
