/**
 * The steps from a page of the hub to the gateway's origin: seeing that the browser reaches it, and posting a ticket.
 */

import { GATEWAY_REACH_PATH } from '@hedgerow/contract/constants'

/** Silence that people do not understand. */
export const LATE_MS = 5_000

/**
 * Whether the browser gets the hub's answer at this origin. A form that goes where it gets none leaves people with the
 * browser's own error, with an empty page, or here.
 */
export async function isReachable(origin: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${origin}${GATEWAY_REACH_PATH}`, {
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(LATE_MS)]),
    })
    return response.ok
  } catch {
    return false
  }
}

/**
 * Posts the ticket to the gateway's origin, which leaves this page. First the page's history entry becomes the gateway
 * list, so that Back from the gateway does not hand over again.
 */
export function handOver({ action, ticket }: { action: string; ticket: string }, path: string): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = action
  form.hidden = true
  for (const [name, value] of Object.entries({ ticket, path })) {
    const field = document.createElement('input')
    field.type = 'hidden'
    field.name = name
    field.value = value
    form.append(field)
  }
  document.body.append(form)
  count(new URL(action).origin)
  window.history.replaceState(window.history.state, '', '/gateways')
  // A page that the browser restores on Back still shows the hand-over, at the list's address.
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload()
  })
  form.submit()
}

/**
 * Acts when the page's policy stops the form. Chromium applies it to redirects, too: then the ticket is redeemed, the
 * gateway's page has sent the browser to another site, and a visit without a form gets there. If the policy has stopped
 * the form itself, that visit leads back here, and `onBlocked` is called.
 */
export function watchPolicy(action: string, path: string, onBlocked: () => void): () => void {
  const { origin } = new URL(action)
  const check = ({ effectiveDirective }: SecurityPolicyViolationEvent) => {
    if (effectiveDirective !== 'form-action') return
    if (recentOf(origin) > 1) onBlocked()
    else location.assign(`${origin}${path}`)
  }
  document.addEventListener('securitypolicyviolation', check)
  return () => document.removeEventListener('securitypolicyviolation', check)
}

const RECENT = 'recentHandOvers'
/** A browser that an origin sends back is here again long before. */
const BACK_WITHIN_MS = 10_000

type Recent = Record<string, { count: number; at: number }>

/** Whether the browser keeps coming back from this origin: it does not keep the cookie of the session there. */
export const comesBackFrom = (origin: string): boolean => recentOf(origin) > 1

/** The next try begins anew. */
export const forgetHandOvers = (): void => sessionStorage.removeItem(RECENT)

function recentOf(origin: string): number {
  const { count = 0, at = 0 } = readRecent()[origin] ?? {}
  return Date.now() - at < BACK_WITHIN_MS ? count : 0
}

function count(origin: string): void {
  const next: Recent = { ...readRecent(), [origin]: { count: recentOf(origin) + 1, at: Date.now() } }
  sessionStorage.setItem(RECENT, JSON.stringify(next))
}

function readRecent(): Recent {
  return JSON.parse(sessionStorage.getItem(RECENT) ?? '{}') as Recent
}

/** A path on the gateway itself: no scheme, no other host. */
export function localPath(path: string | null): string {
  return path !== null && /^\/(?![/\\])/.test(path) ? path : '/'
}
