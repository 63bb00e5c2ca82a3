import type { Transaction } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, testEngines } from '#testing/databases.ts'
import { createSharedCommits, type SharedCommits } from './shared-commits.ts'
import type { Tables } from './tables.ts'
import { inTransaction } from './transaction.ts'

type Work = (transaction: Transaction<Tables>) => Promise<void>

describe.each(testEngines)('shared commits on %s', (engine) => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>
  let commit: SharedCommits<Work>

  beforeEach(async () => {
    database = await openTestDatabase(engine)
    commit = createSharedCommits((works) =>
      inTransaction(database.db, async (transaction) => {
        for (const work of works) await work(transaction)
      }),
    )
  })
  afterEach(() => database.close())

  /** Writes a setting, and returns the transactions in which it was written. */
  function write(name: string, weight = 0.1) {
    const transactions: unknown[] = []
    const done = commit(async (transaction) => {
      transactions.push(transaction)
      await transaction.insertInto('settings').values({ name, value: '1' }).execute()
      if (name === 'broken') throw new Error('of the broken one')
    }, weight)
    return { done, transactions }
  }

  const stored = async () => {
    const rows = await database.db.selectFrom('settings').select('name').where('value', '=', '1').execute()
    return rows.map(({ name }) => name).toSorted()
  }

  test('the first write is committed alone, writes that arrive meanwhile are committed together', async () => {
    const first = write('first')
    const others = [write('second'), write('third')]
    await Promise.all([first, ...others].map(({ done }) => done))
    expect(await stored()).toEqual(['first', 'second', 'third'])
    expect(others[0]!.transactions).toEqual(others[1]!.transactions)
    expect(others[0]!.transactions[0]).not.toBe(first.transactions[0])
  })

  test('a failing write undoes no other write, and only its caller gets the error', async () => {
    const all = ['first', 'second', 'broken', 'third'].map((name) => write(name))
    const ends = await Promise.allSettled(all.map(({ done }) => done))
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await stored()).toEqual(['first', 'second', 'third'])
  })

  test('a transaction takes no more than its weight', async () => {
    const all = ['first', 'second', 'third', 'fourth'].map((name) => write(name, 0.6))
    await Promise.all(all.map(({ done }) => done))
    expect(new Set(all.map(({ transactions }) => transactions[0])).size).toBe(4)
  })
})
