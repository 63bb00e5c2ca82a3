/** Short messages about a success, for 6 s, some with a link or a button. An error stays on the page, in its place. */
import { lazy, Suspense, useSyncExternalStore } from 'react'
import type { ToastLink } from './toast-list.tsx'

const ToastList = lazy(() => import('./toast-list.tsx'))

let needed = false
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export async function toast(message: string, link?: ToastLink): Promise<void> {
  needed = true
  for (const notify of listeners) notify()
  const { show } = await import('./toast-list.tsx')
  show(message, link)
}

/** The place of the messages; its code loads with the first one. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => needed)
  return <Suspense>{shown && <ToastList />}</Suspense>
}
