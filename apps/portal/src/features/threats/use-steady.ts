import { useLayoutEffect, useRef } from 'react'
import type { Marked } from './marked.tsx'

/** So soon after a verdict led to the next incident, a second tap is meant for the one before. */
const UNSTEADY_MS = 600

/** Whether a tap is meant for the incident `id`, which a verdict or an arrow brought under the thumb. */
export function useSteady(id: string | undefined, marked: Marked | undefined): () => boolean {
  const shown = useRef<{ id: string | undefined; marked: Marked | undefined; since: number }>({
    id: undefined,
    marked: undefined,
    since: -Infinity,
  })
  useLayoutEffect(() => {
    if (id === undefined || id === shown.current.id) return
    const isAfterVerdict = marked !== undefined && marked !== shown.current.marked
    shown.current = { id, marked, since: isAfterVerdict ? performance.now() : -Infinity }
  }, [id, marked])
  return () => performance.now() - shown.current.since >= UNSTEADY_MS
}
