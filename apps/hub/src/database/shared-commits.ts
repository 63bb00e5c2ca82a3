/**
 * One transaction for everything that several callers write at the same time. A commit waits for the disk, on SQLite
 * with the whole process: at a hundred commits a second, little time is left for anything else. The first caller after
 * a pause is served at once; callers that come soon after it share the next commit.
 */

/**
 * Resolves when the item is stored; rejects with the error of storing it, which undoes no other caller's. `weight` is
 * its part of what one transaction may take, at most 1.
 */
export type SharedCommits<Item> = (item: Item, weight: number) => Promise<void>

/** The time between commits; it is shorter when enough work for a whole transaction waits. */
const COMMIT_EVERY_MS = 100

/** `store` stores items in one transaction. Where that fails, it is called again for each of them. */
export function createSharedCommits<Item>(store: (items: readonly Item[]) => Promise<void>): SharedCommits<Item> {
  type Waiting = { item: Item; weight: number; settled: PromiseWithResolvers<void> }
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
      await store(together.map(({ item }) => item))
      for (const { settled } of together) settled.resolve()
    } catch (error) {
      // Nobody knows whose item failed, so each gets a transaction of its own.
      if (together.length === 1) together[0]!.settled.reject(error)
      else for (const { item, settled } of together) await store([item]).then(settled.resolve, settled.reject)
    }
    isRunning = false
    committedAtMs = performance.now()
    // Other requests are served between two transactions.
    setImmediate(plan)
  }

  return (item, weight) => {
    const settled = Promise.withResolvers<void>()
    waiting.push({ item, weight, settled })
    plan()
    return settled.promise
  }
}
