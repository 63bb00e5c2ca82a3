/**
 * What a person was in the middle of when their session ended, for them to find after signing in again: the session
 * provider says when, forms and pages with dialogs say what. It lives in this page's memory only, is nobody's once
 * another person signs in, and holds no passwords.
 */
import { useEffect, useRef } from 'react'

const open = new Map<string, () => unknown>()
let kept = { owner: '', values: new Map<string, unknown>() }

/** Called while the screen of the session that ends is still there. `owner` says whose it is. */
export function saveOpenDrafts(owner: string): void {
  const values = [...open].map(([name, read]) => [name, read()] as const).filter(([, value]) => value !== undefined)
  kept = { owner, values: new Map(values) }
}

/** Called when somebody has signed in: what another person left is dropped. */
export function keepDraftsOnlyFor(owner: string): void {
  if (kept.owner !== owner) dropDrafts()
}

export function dropDrafts(): void {
  kept = { owner: '', values: new Map() }
}

/**
 * Keeps `now` under `name` should the session end, and gives it to `restore` when the same part appears for the same
 * person again. Undefined while there is nothing to keep.
 */
export function useDraft<T>(name: string, now: T | undefined, restore: (was: T) => void): void {
  const latest = useRef({ now, restore })
  useEffect(() => {
    latest.current = { now, restore }
  })
  useEffect(() => {
    const was = kept.values.get(name)
    kept.values.delete(name)
    if (was !== undefined) latest.current.restore(was as T)
    open.set(name, () => latest.current.now)
    return () => {
      open.delete(name)
    }
  }, [name])
}
