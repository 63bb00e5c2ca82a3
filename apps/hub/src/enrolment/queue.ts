/**
 * The places in the approval queue. Each kind of request has its own, so that none can take another's: a request with
 * an invitation has one of the invitation's remaining places; a key change has one of its gateway's; a claimed request
 * stays. All others share one fair queue: when it is full, the crowd's newest is dropped (`whoGivesWay`). A dropped
 * device asks again by itself.
 */
import type { Db } from '../database/tables.ts'
import { isUnowned, OWNED } from '../access/ownership.ts'
import { HubError } from '../kernel/hub-error.ts'
import { crowdsOf, networksOf, whoGivesWay } from '../access/networks.ts'

const QUEUE_MAX = 1_000
/** Allows for a whole site at once; more is a crowd. Wider IPv6 networks have a little more. */
const QUEUE_PER_SOURCE_MAX = 300
const KEY_CHANGES_PER_GATEWAY_MAX = 3

export type Newcomer = { sourceIp: string; invitationId: string | undefined; keyChangeFor: string | undefined }

/** Makes room for one more; returns whether another request was dropped. Throws `pending_limit_reached`. */
export async function makeRoom(db: Db, newcomer: Newcomer, now: number): Promise<boolean> {
  const { sourceIp, invitationId, keyChangeFor } = newcomer
  const waiting = await db
    .selectFrom('registrations')
    .select(['id', 'source_ip', 'invitation_id', OWNED, 'key_change_for'])
    .where('status', '=', 'pending')
    .orderBy('requested_at')
    .orderBy('id')
    .execute()
  if (keyChangeFor !== undefined) {
    const ofGateway = waiting.filter((row) => row.key_change_for === keyChangeFor)
    if (ofGateway.length >= KEY_CHANGES_PER_GATEWAY_MAX) throw new HubError('pending_limit_reached')
    return false
  }
  const places = await placesOfInvitations(db, now)
  /** Takes a place of the invitation, if it has one left. */
  const takePlace = (id: string | null | undefined) => {
    const left = places.get(id ?? '') ?? 0
    if (left > 0) places.set(id ?? '', left - 1)
    return left > 0
  }
  const shared = waiting.filter((row) => row.key_change_for === null && isUnowned(row) && !takePlace(row.invitation_id))
  if (takePlace(invitationId)) return false

  const own = networksOf(sourceIp)
  const counts = new Map(own.map(({ cidr }) => [cidr, 0]))
  for (const row of shared)
    for (const { cidr } of networksOf(row.source_ip)) {
      const count = counts.get(cidr)
      if (count !== undefined) counts.set(cidr, count + 1)
    }
  if (own.some(({ cidr, share }) => (counts.get(cidr) ?? 0) >= QUEUE_PER_SOURCE_MAX * share))
    throw new HubError('pending_limit_reached')
  if (shared.length < QUEUE_MAX) return false

  const givesWay = shared[whoGivesWay([...shared.map((row) => row.source_ip), sourceIp].map(crowdsOf))]
  if (!givesWay) throw new HubError('pending_limit_reached')
  await db.deleteFrom('registrations').where('id', '=', givesWay.id).execute()
  return true
}

/** How many more gateways each valid invitation admits. */
async function placesOfInvitations(db: Db, now: number): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('gateway_invitations')
    .select(['id', 'max_uses', 'uses'])
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .whereRef('uses', '<', 'max_uses')
    .execute()
  return new Map(rows.map((row) => [row.id, row.max_uses - row.uses]))
}
