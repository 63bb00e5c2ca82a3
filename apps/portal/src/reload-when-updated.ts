/**
 * A page that was open while the hub was updated asks for code that is no longer there. It is loaded again, once, and
 * then says why: a second failure within the minute is a fault of another kind. While the hub is away nothing is
 * loaded, or the browser's own error page would take this one's place.
 */
import { toast } from '@hedgerow/ui/toast.tsx'

const RELOADED_AT_KEY = 'hubReloadedAt'
const ONCE_IN_MS = 60_000
const SAY_WITHIN_MS = 15_000
const ASK_EVERY_MS = 1_000

let codeIsMissing = false
const reloadedMsAgo = () => Date.now() - Number(sessionStorage.getItem(RELOADED_AT_KEY))

export function reloadWhenUpdated(): void {
  if (reloadedMsAgo() < SAY_WITHIN_MS) void toast('The hub was updated or restarted, so this page was loaded again.')
  window.addEventListener('vite:preloadError', () => {
    codeIsMissing = true
  })
}

/** Whether the page that failed lacks code, and loading it again may bring that. */
export const mayReload = (): boolean => codeIsMissing && reloadedMsAgo() >= ONCE_IN_MS

/** Loads the page again as soon as the hub answers. Returns the way to stop. */
export function reloadOnceAnswered(): () => void {
  const timer = setInterval(() => void ask(), ASK_EVERY_MS)
  const ask = async () => {
    const answer = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)
    if (answer?.ok !== true || !codeIsMissing) return
    codeIsMissing = false
    sessionStorage.setItem(RELOADED_AT_KEY, String(Date.now()))
    location.reload()
  }
  return () => {
    codeIsMissing = false
    clearInterval(timer)
  }
}
