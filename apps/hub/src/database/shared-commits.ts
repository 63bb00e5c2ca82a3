/**
 * One transaction for everything that several callers write at the same time. A commit waits for the disk, on SQLite
 * with the whole process: at a hundred commits a second, little time is left for anything else. The first caller after
 * a pause is served at once; callers that come soon after it share the next commit.
 */
import type { Fact } from '@hedgerow/contract'
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'
import { inTransaction } from './transaction.ts'

/** Resolves with its facts: those of one commit are recorded together, so that their followers work once for all. */
type Work = (transaction: Transaction<Tables>) => Promise<readonly Fact[]>
type Record = (transaction: Transaction<Tables>, ...facts: Fact[]) => Promise<void>

/**
 * Resolves when `work` is committed; rejects with the error of this `work`, which undoes no other caller's. It may run
 * twice, as in `inTransaction`. `weight` is its part of what one transaction may take, at most 1.
 */
export type SharedCommits = (work: Work, weight: number) => Promise<void>

/** The time between commits; it is shorter when enough work for a whole transaction waits. */
const COMMIT_EVERY_MS = 100

export const commitAlone = (db: Kysely<Tables>, record: Record, work: Work) => commitTogether(db, record, [work])

function commitTogether(db: Kysely<Tables>, record: Record, works: readonly Work[]): Promise<void> {
  return inTransaction(
    db,
    async (transaction) => {
      const facts: Fact[] = []
      for (const work of works) facts.push(...(await work(transaction)))
      if (facts.length > 0) await record(transaction, ...facts)
    },
    'read committed',
  )
}

export function createSharedCommits(db: Kysely<Tables>, record: Record): SharedCommits {
  type Waiting = { work: Work; weight: number; settled: PromiseWithResolvers<void> }
  const waiting: Waiting[] = []
  let committedAtMs = -Infinity
  let isRunning = false
  let timer: NodeJS.Timeout | undefined

  function plan(): void {
    clearTimeout(timer)
    if (isRunning || waiting.length === 0) return
    const isFull = waiting.reduce((sum, { weight }) => sum + weight, 0) >= 1
    const pauseMs = isFull ? 0 : committedAtMs + COMMIT_EVERY_MS - performance.now()
    if (pauseMs <= 0) void commitNext()
    else timer = setTimeout(plan, pauseMs)
  }

  /** At least one, however heavy. */
  function takeNext(): Waiting[] {
    let weight = waiting[0]?.weight ?? 0
    let count = 1
    while (count < waiting.length && (weight += waiting[count]!.weight) <= 1) count++
    return waiting.splice(0, count)
  }

  async function commitNext(): Promise<void> {
    isRunning = true
    const together = takeNext()
    try {
      await commitTogether(
        db,
        record,
        together.map(({ work }) => work),
      )
      for (const { settled } of together) settled.resolve()
    } catch (error) {
      // Nobody knows whose work failed, so each gets a transaction of its own.
      if (together.length === 1) together[0]!.settled.reject(error)
      else
        for (const { work, settled } of together)
          await commitAlone(db, record, work).then(settled.resolve, settled.reject)
    }
    isRunning = false
    committedAtMs = performance.now()
    // Other requests are served between two transactions.
    setImmediate(plan)
  }

  return (work, weight) => {
    const settled = Promise.withResolvers<void>()
    waiting.push({ work, weight, settled })
    plan()
    return settled.promise
  }
}
