/**
 * A page that was open during an update of the hub requests code that no longer exists; one whose device changes its
 * network gets no code for a moment. It reloads and says why, at most once a minute, because another failure may have
 * another cause. It waits until the hub answers, because otherwise the browser would show its own error page.
 */
const RELOADED_AT_KEY = 'hubReloadedAt'
const ONCE_IN_MS = 60_000
const SAY_WITHIN_MS = 15_000
const ASK_EVERY_MS = 1_000

let codeIsMissing = false
const reloadedMsAgo = () => Date.now() - Number(sessionStorage.getItem(RELOADED_AT_KEY))

export function reloadWhenUpdated(): void {
  if (reloadedMsAgo() < SAY_WITHIN_MS) void sayWhy()
  window.addEventListener('vite:preloadError', () => {
    codeIsMissing = true
  })
}

/** Loaded on demand: the sign-in page has no messages. */
async function sayWhy(): Promise<void> {
  const { toast } = await import('@hedgerow/ui/toast.tsx')
  await toast('The hub was updated or restarted, so this page was loaded again.')
}

/** Whether code of the failed page is missing, so that a reload may help. */
export const mayReload = (): boolean => codeIsMissing

/** Reloads the page as soon as the hub answers, a minute after the last time. Returns a function that stops it. */
export function reloadOnceAnswered(): () => void {
  const timer = setInterval(() => void check(), ASK_EVERY_MS)
  const check = async () => {
    if (reloadedMsAgo() < ONCE_IN_MS) return
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
