/**
 * A page that was open while the hub was updated asks for code that is no longer there. It is loaded again, once, and
 * then says why: a second failure within the minute is a fault of another kind. While the hub is away nothing is loaded,
 * or the browser's own error page would take this one's place.
 */
import { toast } from '#ui/toast.tsx'

const RELOADED_AT_KEY = 'hubReloadedAt'
const ONCE_IN_MS = 60_000
const SAY_WITHIN_MS = 15_000
const ASK_EVERY_MS = 2_000

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
  const controller = new AbortController()
  const { signal } = controller
  const ask = async () => {
    const answers = await fetch(location.href, { method: 'HEAD', cache: 'no-store', signal }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (signal.aborted) return
    if (!answers) {
      setTimeout(() => void ask(), ASK_EVERY_MS)
      return
    }
    sessionStorage.setItem(RELOADED_AT_KEY, String(Date.now()))
    location.reload()
  }
  void ask()
  return () => {
    codeIsMissing = false
    controller.abort()
  }
}
