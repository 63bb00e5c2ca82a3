/**
 * The sessions on gateway origins, each bound to one hub session, place and origin. They live in memory: after a
 * restart of the hub, the next page load gets a new ticket without the person noticing.
 */
import { randomBytes } from 'node:crypto'
import { UI_SESSION_LIFETIME_SECONDS } from './cookies.ts'
import { isSamePlace, type GatewayHost } from './origins.ts'
import type { Grant } from './tickets.ts'

const TOKEN_BYTES = 24
const MAX_SESSIONS = 20_000

export type UiSession = Grant & { expiresAtMs: number; authorities: readonly string[] }

export type UiSessions = {
  /** The value for the session cookie. */
  start(grant: Grant): string
  /** The session of the first token that is valid for this place at this origin. */
  find(tokens: string[], at: GatewayHost): UiSession | undefined
  endSession(sessionId: string): void
}

export function createUiSessions({ clock }: { clock: () => number }): UiSessions {
  const byToken = new Map<string, UiSession>()

  return {
    start(grant) {
      for (const [token, session] of byToken) {
        if (session.expiresAtMs > clock() && byToken.size < MAX_SESSIONS) break
        byToken.delete(token)
      }
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      byToken.set(token, {
        ...grant,
        expiresAtMs: clock() + UI_SESSION_LIFETIME_SECONDS * 1000,
        authorities: authoritiesOf(grant.origin),
      })
      return token
    },
    find(tokens, at) {
      for (const token of tokens) {
        const session = byToken.get(token)
        if (!session || !isAt(session, at, session.authorities)) continue
        if (clock() < session.expiresAtMs) return session
        byToken.delete(token)
      }
      return undefined
    },
    endSession(sessionId) {
      for (const [token, session] of byToken) if (session.sessionId === sessionId) byToken.delete(token)
    },
  }
}

/** Whether a grant, whose origin has these authorities, is for this place at this origin. */
export function isAt(
  grant: Grant,
  at: GatewayHost,
  authorities: readonly string[] = authoritiesOf(grant.origin),
): boolean {
  return isSamePlace(grant, at) && grant.mode === at.mode && authorities.includes(at.authority)
}

/** The Host headers that name the host and port of `origin`, with or without a default port. */
function authoritiesOf(origin: string): string[] {
  const [scheme, host = ''] = origin.split('://')
  return [host, `${host}:${scheme === 'https' ? 443 : 80}`]
}
