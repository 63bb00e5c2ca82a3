import { useEffect, useRef } from 'react'

/** So soon after another incident came under the thumb, a tap is meant for the one before. */
const UNSTEADY_MS = 600

/** Whether the incident has been there long enough for a tap; at once for the first one. */
export function useSteady(id: string | undefined): () => boolean {
  const shown = useRef<{ id: string | undefined; since: number }>({ id: undefined, since: -Infinity })
  useEffect(() => {
    if (id === undefined || id === shown.current.id) return
    shown.current = { id, since: shown.current.id === undefined ? -Infinity : performance.now() }
  }, [id])
  return () => performance.now() - shown.current.since >= UNSTEADY_MS
}
