/**
 * When a refusal ends the session: a 401 always, a 403 unless the role is too low, and neither on the pages for
 * visitors. Pure; client.ts applies it to every answer.
 */
import { SESSION_REDIRECT_SUPPRESSION_MS } from '@hedgerow/contract/constants'

export const SESSION_EXPIRED_MESSAGE = 'Your session has expired. Please log in again.'

const ROLE_TOO_LOW: ReadonlySet<string | undefined> = new Set(['role_required', 'application_role_required'])
const VISITOR_PATHS: ReadonlySet<string> = new Set(['/login', '/register'])

export function endsSession(answer: { status: number; error: string | undefined; path: string }): boolean {
  if (VISITOR_PATHS.has(answer.path) || answer.path.startsWith('/login/')) return false
  if (answer.status === 401) return true
  return answer.status === 403 && !ROLE_TOO_LOW.has(answer.error)
}

/** Allows one of several redirects: polls that fail together must redirect the person only once. */
export function createRedirectGate(now: () => number): () => boolean {
  let lastMs = Number.NEGATIVE_INFINITY
  return () => {
    if (now() - lastMs < SESSION_REDIRECT_SUPPRESSION_MS) return false
    lastMs = now()
    return true
  }
}
