/**
 * Short messages that something worked, for 6 s (specification section 9). What went wrong stays in its place instead.
 */
import { lazy, Suspense, useSyncExternalStore } from 'react'

const ToastList = lazy(() => import('./toast-list.tsx'))

let needed = false
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export async function toast(message: string): Promise<void> {
  needed = true
  for (const tell of listeners) tell()
  const { show } = await import('./toast-list.tsx')
  show(message)
}

/** Where they appear; its code loads with the first of them. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => needed)
  return <Suspense>{shown && <ToastList />}</Suspense>
}
