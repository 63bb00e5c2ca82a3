import { useEffect, useState, useSyncExternalStore } from 'react'

const TICK_MS = 15_000
const listeners = new Set<() => void>()
let nowMs = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    nowMs = Date.now()
    for (const notify of listeners) notify()
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

const COUNTED_MS = 135_000

/** The time, to the second while `until` is less than two minutes ahead: for what counts down. */
export function useCountdown(until: string | null): number {
  const now = useNow()
  const [exact, setExact] = useState(0)
  const left = until === null ? 0 : Date.parse(until) - now
  const isNear = left > 0 && left < COUNTED_MS
  useEffect(() => {
    if (!isNear) return undefined
    const timer = setInterval(() => setExact(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [isNear])
  return Math.max(now, exact)
}
