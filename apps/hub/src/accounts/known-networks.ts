/** The networks that each person signed in from; sign-in from a known network works whatever strangers do. */
import type { Db } from '../database/tables.ts'
import { networkOf } from '../access/networks.ts'
import { inTransaction } from '../database/transaction.ts'

const KEPT_PER_PERSON = 20

export async function isKnownNetwork(db: Db, userId: string, sourceIp: string): Promise<boolean> {
  const row = await db
    .selectFrom('known_networks')
    .select('network')
    .where('user_id', '=', userId)
    .where('network', '=', networkOf(sourceIp))
    .executeTakeFirst()
  return row !== undefined
}

/** Records a sign-in from this network; above the limit, the network used longest ago is dropped. */
export function rememberNetwork(db: Db, userId: string, sourceIp: string, now: number): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const network = networkOf(sourceIp)
    await transaction
      .insertInto('known_networks')
      .values({ user_id: userId, network, last_at: now })
      .onConflict((conflict) => conflict.columns(['user_id', 'network']).doUpdateSet({ last_at: now }))
      .execute()
    const stored = await transaction
      .selectFrom('known_networks')
      .select('network')
      .where('user_id', '=', userId)
      // Rows from a time when the clock was ahead look newer than they are.
      .where('network', '!=', network)
      .orderBy('last_at', 'desc')
      .limit(KEPT_PER_PERSON - 1)
      .execute()
    await transaction
      .deleteFrom('known_networks')
      .where('user_id', '=', userId)
      .where('network', 'not in', [network, ...stored.map((row) => row.network)])
      .execute()
  })
}
