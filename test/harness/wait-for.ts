import { setTimeout as sleep } from 'node:timers/promises'

export type WaitOptions = {
  /** The awaited event in words, for the failure's message. */
  for: string
  timeoutMs?: number
  everyMs?: number
}

/**
 * Calls `condition` until it returns something other than undefined, null or false, and returns that. An exception of
 * the condition counts as "not yet" and becomes the cause of the failure when the time is up.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<T>> {
  const { timeoutMs = 30_000, everyMs = 25 } = options
  const deadline = performance.now() + timeoutMs
  let cause: unknown
  do {
    try {
      const value = await condition()
      if (value !== undefined && value !== null && value !== false) return value
    } catch (error) {
      cause = error
    }
    await sleep(everyMs)
  } while (performance.now() < deadline)
  throw new Error(`Waited ${timeoutMs} ms in vain for ${options.for}`, { cause })
}
