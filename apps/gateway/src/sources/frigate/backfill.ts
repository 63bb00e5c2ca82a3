import { z } from 'zod'
import type { FrigateClient } from './client.ts'
import { FrigateError } from './failure.ts'
import { check, readMessage, reviewItem, type ReviewItem } from './messages.ts'

const PAGE = 100
const started = z.object({ start_time: z.number() })
/** Enough for two nights of a busy site; older items are left out, with a message. */
const ITEMS_MAX = 2_000

export type Missed = {
  /** The oldest first. */
  items: ReviewItem[]
  /** There were more items than are fetched. */
  isCut: boolean
  /** Why the first unreadable item was left out, such as `lacks or garbles severity`; undefined when there was none. */
  problem: string | undefined
}

/** Fetches the review items that began or went on after `after` (seconds since 1970). Rejects with FrigateError. */
export async function readMissed(client: FrigateClient, after: number, signal: AbortSignal): Promise<Missed> {
  const items = new Map<string, ReviewItem>()
  let problem: string | undefined
  let before: number | undefined
  let listed = 0
  for (let count = PAGE; count === PAGE && listed < ITEMS_MAX;) {
    const query = new URLSearchParams({
      after: after.toFixed(3),
      limit: String(PAGE),
      ...(before && { before: before.toFixed(3) }),
    })
    const list = readMessage(z.array(z.unknown()), await client.read(`/api/review?${query}`, { signal }))
    if (list.problem !== undefined) throw new FrigateError(`Frigate's list of review items ${list.problem}.`)
    for (const entry of list.value) {
      const read = check(reviewItem, entry)
      if (read.problem !== undefined) problem ??= read.problem
      else items.set(read.value.id, read.value)
    }
    count = list.value.length
    listed += count
    // The next page begins where this one ended, also when none of its items is readable; paging stops when Frigate
    // repeats itself.
    const times = list.value.flatMap((entry) => started.safeParse(entry).data?.start_time ?? [])
    const oldest = Math.min(...times)
    if (!Number.isFinite(oldest) || (before !== undefined && oldest + 0.001 >= before)) break
    before = oldest + 0.001
  }
  const oldestFirst = [...items.values()].toSorted((a, b) => a.start_time - b.start_time)
  return { items: oldestFirst.slice(-ITEMS_MAX), isCut: listed >= ITEMS_MAX, problem }
}
