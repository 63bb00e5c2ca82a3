import { setTimeout as sleep } from 'node:timers/promises'

export type WaitOptions = {
  /** The awaited event in words, for the failure's message. */
  for: string
  timeoutMs?: number
  /** Otherwise the pauses grow with the time that has passed. */
  everyMs?: number
}

const FIRST_PAUSE_MS = 25
/** Shorter than any state that a test waits for. */
const LONGEST_PAUSE_MS = 200
/** A wait becomes this share longer than its event took. */
const SHARE = 0.05

/**
 * Calls `condition` until it returns something other than undefined, null or false, and returns that. An exception of
 * the condition counts as "not yet" and becomes the cause of the failure when the time is up.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<T>> {
  const { timeoutMs = 60_000, everyMs } = options
  const startedAt = performance.now()
  const passedMs = () => performance.now() - startedAt
  // Questions to other processes cost both sides processor time, of which a busy machine has little.
  const pauseMs = () => Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, passedMs() * SHARE))
  let cause: unknown
  do {
    try {
      const value = await condition()
      if (value !== undefined && value !== null && value !== false) return value
    } catch (error) {
      cause = error
    }
    await sleep(everyMs ?? pauseMs())
  } while (passedMs() < timeoutMs)
  throw new Error(`Waited ${timeoutMs} ms in vain for ${options.for}`, { cause })
}
