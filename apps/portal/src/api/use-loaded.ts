import { useEffect, useState } from 'react'
import { ApiError, messageOf } from './client.ts'

/** `isFinal`: the hub has answered and will answer the same again. */
type Loaded<T> = { data?: T; problem?: string; isFinal?: boolean }

/**
 * Loads one answer, for pages without a query client. `load` must be a stable function; `retry` loads again.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>): Loaded<T> & { retry: () => void } {
  const [loaded, setLoaded] = useState<Loaded<T>>({})
  const [controller, setController] = useState(() => new AbortController())
  useEffect(() => {
    const { signal } = controller
    const request = async () => {
      try {
        setLoaded({ data: await load(signal) })
      } catch (error) {
        if (!signal.aborted) setLoaded({ problem: messageOf(error), isFinal: isFinal(error) })
      }
    }
    void request()
  }, [load, controller])
  useEffect(() => () => controller.abort(), [controller])
  const retry = () => {
    setLoaded({})
    setController(new AbortController())
  }
  return { ...loaded, retry }
}

function isFinal(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code === 'unknown') return false
  return error.status >= 400 && error.status < 500 && error.status !== 429
}
