/**
 * A page that was open while the hub was updated asks for code that is no longer there. It is loaded again, once, and
 * then says why: a second failure within the minute is a fault of another kind, which route-error.tsx shows.
 */
import { toast } from '#ui/toast.tsx'

const RELOADED_AT_KEY = 'hubReloadedAt'
const ONCE_IN_MS = 60_000
const SAY_WITHIN_MS = 15_000

export function reloadWhenUpdated(): void {
  const reloadedMsAgo = () => Date.now() - Number(sessionStorage.getItem(RELOADED_AT_KEY))
  if (reloadedMsAgo() < SAY_WITHIN_MS) void toast('The hub was updated, so this page was loaded again.')
  window.addEventListener('vite:preloadError', (event) => {
    if (reloadedMsAgo() < ONCE_IN_MS) return
    event.preventDefault()
    sessionStorage.setItem(RELOADED_AT_KEY, String(Date.now()))
    location.reload()
  })
}
