/**
 * Unfinished work at the end of a session, restored when the same person signs in again. Forms and pages register their
 * drafts; the session provider says when to save them. Drafts stay in memory, are dropped when another person signs in,
 * and contain no passwords.
 */
import { useEffect, useRef } from 'react'

const open = new Map<string, () => unknown>()
let stored = { owner: '', values: new Map<string, unknown>() }

/** Call it while the screen of the ending session is still mounted. `owner` identifies the person. */
export function saveOpenDrafts(owner: string): void {
  const values = [...open].map(([name, read]) => [name, read()] as const).filter(([, value]) => value !== undefined)
  stored = { owner, values: new Map(values) }
}

/** Call it after a sign-in: it drops the drafts of another person. */
export function keepDraftsOnlyFor(owner: string): void {
  if (stored.owner !== owner) dropDrafts()
}

export function dropDrafts(): void {
  stored = { owner: '', values: new Map() }
}

/**
 * Keeps `now` under `name` if the session ends, and calls `restore` with it when the same person sees this part again.
 * `now` is undefined while there is nothing to keep.
 */
export function useDraft<T>(name: string, now: T | undefined, restore: (was: T) => void): void {
  const latest = useRef({ now, restore })
  useEffect(() => {
    latest.current = { now, restore }
  })
  useEffect(() => {
    const was = stored.values.get(name)
    stored.values.delete(name)
    if (was !== undefined) latest.current.restore(was as T)
    open.set(name, () => latest.current.now)
    return () => {
      open.delete(name)
    }
  }, [name])
}
