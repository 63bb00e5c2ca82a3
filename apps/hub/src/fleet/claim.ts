import type { claimGateway as claimGatewayCall, ResponseOf } from '@hedgerow/contract'
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { isOwnedBy, isUnowned, OWNED, ownedBy } from '../access/ownership.ts'
import { by, record, type Act } from '../facts/facts.ts'

const WRONG_TRIES_MAX = 5
const LOCK_MS = 15 * 60_000

export type ClaimLock = {
  /**
   * Counts a try before it is made, so that parallel guesses count too. Returns a function that undoes the count when
   * the token is right; earlier wrong tries stay counted. Throws `claim_locked`.
   */
  begin(userId: string): () => void
}

/** Five wrong device tokens lock that person's claiming for 15 minutes. */
export function createClaimLock(clock: () => number): ClaimLock {
  const tried = new Map<string, { count: number; lastAt: number }>()
  return {
    begin(userId) {
      const now = clock()
      const previous = tried.get(userId)
      const tries = previous && Math.abs(now - previous.lastAt) < LOCK_MS ? previous : { count: 0, lastAt: now }
      if (tries.count >= WRONG_TRIES_MAX) throw new HubError('claim_locked')
      tries.count++
      tries.lastAt = now
      tried.set(userId, tries)
      return () => void tries.count--
    },
  }
}

type Claimed = ResponseOf<typeof claimGatewayCall>

/**
 * Makes the caller the owner of the gateway with this device token, or of the registration that waits with it. Claiming
 * one's own gateway again returns the same answer. Throws `claim_refused` both for an unknown token and for somebody
 * else's.
 */
export function claimGateway(db: Kysely<Tables>, deviceToken: string, act: Act): Promise<Claimed> {
  return inTransaction(db, async (transaction) => {
    const claimed =
      (await claimExisting(transaction, deviceToken, act)) ?? (await claimPending(transaction, deviceToken, act))
    if (!claimed) throw new HubError('claim_refused')
    return claimed
  })
}

async function claimExisting(transaction: Transaction<Tables>, token: string, act: Act): Promise<Claimed | undefined> {
  const gateway = await transaction
    .selectFrom('gateways')
    .select(['id', 'name', OWNED])
    .where('device_token', '=', token)
    .executeTakeFirst()
  if (!gateway) return undefined
  const { userId } = act.actor
  if (!isUnowned(gateway) && !isOwnedBy(gateway, userId)) throw new HubError('claim_refused')
  if (isUnowned(gateway)) {
    await transaction.updateTable('gateways').set(ownedBy(userId)).where('id', '=', gateway.id).execute()
    await record(transaction, {
      kind: 'gateway.claimed',
      ...by(act),
      target: gateway.id,
      gatewayId: gateway.id,
      data: { name: gateway.name },
    })
  }
  return { name: gateway.name, status: 'claimed', gatewayId: gateway.id }
}

async function claimPending(transaction: Transaction<Tables>, token: string, act: Act): Promise<Claimed | undefined> {
  const waiting = await transaction
    .selectFrom('registrations')
    .select(['id', 'device_name', OWNED])
    .where('device_token', '=', token)
    .where('status', '=', 'pending')
    .orderBy('requested_at')
    .execute()
  const first = waiting.find((row) => isOwnedBy(row, act.actor.userId)) ?? waiting.find(isUnowned)
  if (!first) return undefined
  // The claimer owns the gateway whichever of these requests is approved.
  const unowned = waiting.filter(isUnowned).map((row) => row.id)
  if (unowned.length > 0) {
    await transaction.updateTable('registrations').set(ownedBy(act.actor.userId)).where('id', 'in', unowned).execute()
    await record(transaction, {
      kind: 'registration.claimed',
      ...by(act),
      target: first.id,
      data: {},
    })
  }
  return { name: first.device_name, status: 'pending', gatewayId: null }
}

/** The record does not hold the tried token: it may be another gateway's. */
export function recordRefusedClaim(db: Kysely<Tables>, act: Act): Promise<void> {
  return record(db, { kind: 'gateway.claim-refused', ...by(act), data: {} })
}
