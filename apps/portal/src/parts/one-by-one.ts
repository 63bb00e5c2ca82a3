import { useState } from 'react'
import { ApiError } from '#api/client.ts'

export type Outcome = { done: boolean; message: string }

type OneByOne = {
  /** By the key of the item, in the order of the work. */
  outcomes: ReadonlyMap<string, Outcome>
  working: boolean
  /** Whether every item has its outcome. */
  finished: boolean
  start: () => Promise<void>
}

/**
 * Does `work` for each key in turn. It resolves with the message of a success; an error becomes an outcome by `failed`
 * and does not stop the others. Many calls can reach the limit of calls per person; then the work continues as fast as
 * the limit allows.
 */
export function useOneByOne(
  keys: readonly string[],
  work: (key: string) => Promise<string>,
  failed: (error: unknown) => string,
): OneByOne {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const [working, setWorking] = useState(false)
  const outcomeOf = async (key: string): Promise<Outcome> => {
    try {
      return { done: true, message: await work(key) }
    } catch (error) {
      const waitMs = error instanceof ApiError && error.code === 'too_many_requests' ? error.retryAfterMs : undefined
      if (waitMs === undefined) return { done: false, message: failed(error) }
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      return outcomeOf(key)
    }
  }
  const start = async () => {
    setWorking(true)
    for (const key of keys) {
      const outcome = await outcomeOf(key)
      setOutcomes((known) => new Map(known).set(key, outcome))
    }
    setWorking(false)
  }
  return { outcomes, working, finished: outcomes.size === keys.length, start }
}
