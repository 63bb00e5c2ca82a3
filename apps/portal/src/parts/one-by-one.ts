import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError } from '#api/client.ts'

/** `path`: the page that shows the result. */
export type Outcome = { done: boolean; message: string; path?: string }

export type OneByOne = {
  /** By the key of the item, in the order of the work. */
  outcomes: ReadonlyMap<string, Outcome>
  working: boolean
  /** Whether every item has its outcome. */
  finished: boolean
  /** Does those that have no outcome yet. */
  start: () => Promise<void>
  /** Ends after the current item. */
  stop: () => void
}

/**
 * Does `work` for each key in turn, until its component is gone. It resolves with a success; an error becomes an
 * outcome by `failed` and does not stop the others. Many calls can reach the limit of calls per person; then the work
 * continues as fast as the limit allows.
 */
export function useOneByOne(
  keys: readonly string[],
  work: (key: string) => Promise<Omit<Outcome, 'done'>>,
  failed: (error: unknown) => string,
): OneByOne {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const [working, setWorking] = useState(false)
  const outcomeOf = async (key: string): Promise<Outcome> => {
    try {
      return { done: true, ...(await work(key)) }
    } catch (error) {
      const waitMs = error instanceof ApiError && error.code === 'too_many_requests' ? error.retryAfterMs : undefined
      if (waitMs === undefined) return { done: false, message: failed(error) }
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      return outcomeOf(key)
    }
  }
  const isStopped = useRef(false)
  const stop = useCallback(() => {
    isStopped.current = true
  }, [])
  useEffect(() => stop, [stop])
  const start = async () => {
    isStopped.current = false
    setWorking(true)
    for (const key of keys.filter((one) => !outcomes.has(one))) {
      if (isStopped.current) break
      const outcome = await outcomeOf(key)
      setOutcomes((previous) => new Map(previous).set(key, outcome))
    }
    setWorking(false)
  }
  return { outcomes, working, finished: outcomes.size === keys.length, start, stop }
}
