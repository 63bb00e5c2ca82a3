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
  // Whoever asks first after a pause must not see the time of the last tick.
  if (Date.now() - nowMs > TICK_MS) nowMs = Date.now()
  return nowMs
}

/** The time in milliseconds since 1970, fresh to 15 s; one timer for every time on the page. */
export const useNow = (): number => useSyncExternalStore(subscribe, snapshot)
