import { setTimeout as sleep } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { isSerializationFailure } from './storage-errors.ts'
import type { Db, Tables } from './tables.ts'

const ATTEMPTS = 10
const RETRY_MAX_DELAY_MS = 50

/**
 * Runs `work` in a transaction that behaves as if no other ran at the same time, on both engines, or inside the
 * transaction that `db` already is. A throw rolls back. `work` must have no effect but on the transaction, since
 * PostgreSQL may ask for it again; tell the rest of the process when the promise has resolved.
 */
export async function inTransaction<T>(db: Db, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Transaction<Tables>)
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().setIsolationLevel('serializable').execute(work)
    } catch (error) {
      if (attempt === ATTEMPTS || !isSerializationFailure(error)) throw error
      await sleep(Math.random() * RETRY_MAX_DELAY_MS)
    }
  }
}
