/**
 * One transaction for what several callers write at the same time. A commit waits for the disk, on SQLite with the
 * whole process: a hundred a second leave little time for anything else. The first caller after a pause is served at
 * once; those who come soon after it share the next commit.
 */
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'
import { inTransaction } from './transaction.ts'

type Work = (transaction: Transaction<Tables>) => Promise<void>

/**
 * Resolves when `work` is committed; rejects with its own error, which undoes nothing of the others'. It may run twice,
 * as in `inTransaction`. `weight` is its part of what one transaction may take, at most 1.
 */
export type SharedCommits = (work: Work, weight: number) => Promise<void>

/** From one commit to the next, unless as much waits as a transaction may take. */
const COMMIT_EVERY_MS = 50

export const commitAlone = (db: Kysely<Tables>, work: Work) => inTransaction(db, work, 'read committed')

export function createSharedCommits(db: Kysely<Tables>): SharedCommits {
  type Waiting = { work: Work; weight: number; settled: PromiseWithResolvers<void> }
  const waiting: Waiting[] = []
  let committedAtMs = -Infinity
  let isRunning = false
  let timer: NodeJS.Timeout | undefined

  const commit = (work: Work) => commitAlone(db, work)

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
      await commit(async (transaction) => {
        for (const { work } of together) await work(transaction)
      })
      for (const { settled } of together) settled.resolve()
    } catch (error) {
      // Whose work it was is not known, so each has a transaction of its own now.
      if (together.length === 1) together[0]!.settled.reject(error)
      else for (const { work, settled } of together) await commit(work).then(settled.resolve, settled.reject)
    }
    isRunning = false
    committedAtMs = performance.now()
    // Other requests are served in between.
    setImmediate(plan)
  }

  return (work, weight) => {
    const settled = Promise.withResolvers<void>()
    waiting.push({ work, weight, settled })
    plan()
    return settled.promise
  }
}
