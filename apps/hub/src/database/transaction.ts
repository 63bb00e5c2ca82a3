import { setTimeout as sleep } from 'node:timers/promises'
import type { IsolationLevel, Kysely, Transaction } from 'kysely'
import { isOutcomeUnknown, isSerializationFailure } from './storage-errors.ts'
import type { Db, Tables } from './tables.ts'

const ATTEMPTS = 20
/** The longest pause before the second attempt; it grows by as much with each attempt. */
const RETRY_DELAY_STEP_MS = 50

/** Runs once the transaction has committed. It must not throw: nothing can be undone by then. */
type Effect = () => void | Promise<void>
type Context = { root: Kysely<Tables>; effects: Effect[] }

const contexts = new WeakMap<Db, Context>()

/**
 * Runs `work` in a transaction, or inside the transaction that `db` already is. A throw rolls back. By default it is
 * serializable on both engines, and PostgreSQL may repeat it: `work` must affect nothing outside the transaction.
 * Effects on the process wait for `afterCommit`; they are over when the promise resolves.
 */
export async function inTransaction<T>(
  db: Db,
  work: (transaction: Transaction<Tables>) => Promise<T>,
  isolation: IsolationLevel = 'serializable',
): Promise<T> {
  if (db.isTransaction) return work(db as Transaction<Tables>)
  for (let attempt = 1; ; attempt++) {
    const context: Context = { root: db, effects: [] }
    let isCommitting = false
    let result: T
    try {
      result = await db
        .transaction()
        .setIsolationLevel(isolation)
        .execute(async (transaction) => {
          contexts.set(transaction, context)
          const done = await work(transaction)
          isCommitting = true
          return done
        })
    } catch (error) {
      // PostgreSQL may have committed when the connection is lost before it says so. Effects read the database again,
      // so a needless one does no harm, but a missing one would leave the process with old state.
      if (isCommitting && isOutcomeUnknown(error)) await run(context.effects)
      if (attempt === ATTEMPTS || !isSerializationFailure(error)) throw error
      await sleep(Math.random() * RETRY_DELAY_STEP_MS * attempt)
      continue
    }
    await run(context.effects)
    return result
  }
}

async function run(effects: readonly Effect[]): Promise<void> {
  for (const effect of effects) await effect()
}

/** Runs `effect` after the commit of the outermost transaction, and never when it is rolled back. */
export function afterCommit(transaction: Transaction<Tables>, effect: Effect): void {
  contextOf(transaction).effects.push(effect)
}

/** The database to which the transaction belongs. */
export function databaseOf(transaction: Transaction<Tables>): Kysely<Tables> {
  return contextOf(transaction).root
}

function contextOf(transaction: Transaction<Tables>): Context {
  const context = contexts.get(transaction)
  if (!context) throw new Error('This transaction was not begun by inTransaction')
  return context
}
