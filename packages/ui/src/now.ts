import { useSyncExternalStore } from 'react'

const TICK_MS = 15_000
const listeners = new Set<() => void>()
let nowMs = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    nowMs = Date.now()
    for (const tell of listeners) tell()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function snapshot(): number {
  // The first reader after a pause must not get the time of the last tick.
  if (Date.now() - nowMs > TICK_MS) nowMs = Date.now()
  return nowMs
}

/** The time in milliseconds since 1970, at most 15 s old; all times on the page share one timer. */
export const useNow = (): number => useSyncExternalStore(subscribe, snapshot)
