/**
 * People who gave the device's password: a cookie for each browser, and the list of them in memory. On the device's own
 * network it signs them in; through the hub it confirms, for one visit, that they may change gateway.yaml.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createBuckets, type Rate } from '@hedgerow/http'
import { Refusal } from '../../calls/errors.ts'
import { OWN_COOKIE_PREFIX } from '../../kernel/own-cookie.ts'
import type { DevicePassword } from '../../kernel/password.ts'

export type Sessions = {
  /** Returns the value of `Set-Cookie`. Throws `Refusal` for a wrong password and for too many attempts. */
  signIn(request: IncomingMessage, password: string): Promise<string>
  /**
   * The same for somebody who comes through the hub: `visit` is who, in which session of the hub. The cookie is no
   * session on the device's own network.
   */
  confirm(request: IncomingMessage, password: string, visit: string): Promise<string>
  /** Whether the password was given in this visit. `isUse`: the half hour begins again. */
  isConfirmed(request: IncomingMessage, visit: string, options: { isUse: boolean }): Promise<boolean>
  /** Ends the request's session; returns the value of `Set-Cookie` that removes its cookie. */
  signOut(request: IncomingMessage): string
  isSignedIn(request: IncomingMessage): Promise<boolean>
}

/** `visit`: of somebody who comes through the hub. */
type Session = { passwordMark: string; usedAt: number; visit: string | undefined }

/** Enough for a person who mistypes; a script cannot guess 79 bits at any of these rates. */
const ATTEMPTS_OF_SOURCE: Rate = { burst: 8, perSecond: 0.1 }
/** Each attempt keeps a small board busy. */
const ATTEMPTS_OF_ALL: Rate = { burst: 30, perSecond: 1 }
const SOURCES_REMEMBERED = 1_024
const IDLE_MS = 7 * 86_400_000
const VISIT_IDLE_MS = 30 * 60_000
const SESSIONS_MAX = 200

/** `clock` in milliseconds, never set back. `port`: browsers share cookies between the ports of a host. */
export function createSessions(
  password: Pick<DevicePassword, 'verify' | 'mark'>,
  { port, clock = () => performance.now() }: { port: () => number; clock?: () => number },
): Sessions {
  const sessions = new Map<string, Session>()
  const bySource = createBuckets(ATTEMPTS_OF_SOURCE, SOURCES_REMEMBERED)
  const byAll = createBuckets(ATTEMPTS_OF_ALL, 1)

  function throttle(source: string): void {
    const now = clock()
    const [one, all] = [[{ key: source, share: 1 }], [{ key: 'all', share: 1 }]]
    const waitMs = Math.max(bySource.waitMs(one, now), byAll.waitMs(all, now))
    if (waitMs > 0)
      throw new Refusal('too_many_requests', {
        message: 'Too many attempts to sign in. Wait a moment.',
        retryAfterSeconds: Math.ceil(waitMs / 1_000),
      })
    bySource.add(one, -1)
    byAll.add(all, -1)
  }

  /** `__Host-` needs https, which only a proxy in front of the device has. */
  const cookieName = (isSecure: boolean) => `${isSecure ? '__Host-' : ''}${OWN_COOKIE_PREFIX}${port()}`

  /** The hub lets no gateway set a `__Host-` cookie. */
  function setCookie(request: IncomingMessage, value: string, { attributes = '', isVisit = false }): string {
    const isSecure = request.headers.origin?.startsWith('https:') ?? false
    return (
      `${cookieName(isSecure && !isVisit)}=${value}; Path=/;${isSecure ? ' Secure;' : ''} HttpOnly; ` +
      `SameSite=Strict${attributes}`
    )
  }

  /** Tokens of both cookie names: the request does not say whether the browser uses https. */
  function tokensOf({ headers: { cookie = '' } }: IncomingMessage): string[] {
    const names = [true, false].map(cookieName)
    return cookie.split(';').flatMap((part) => {
      const [name = '', value = ''] = part.trim().split('=', 2)
      return names.includes(name) ? [keyOf(value)] : []
    })
  }

  /** Returns the new session's token. */
  async function start(request: IncomingMessage, typed: string, visit?: string): Promise<string> {
    // Read before the check: a password that is replaced meanwhile ends this session too.
    const passwordMark = await password.mark()
    throttle(request.socket.remoteAddress ?? '')
    if (!(await password.verify(typed))) throw new Refusal('wrong_password')
    const token = randomBytes(32).toString('base64url')
    sessions.set(keyOf(token), { passwordMark, usedAt: clock(), visit })
    const [oldest] = sessions.keys()
    if (sessions.size > SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest)
    return token
  }

  async function isLive(request: IncomingMessage, { visit, isUse }: { visit?: string; isUse: boolean }) {
    const keys = tokensOf(request)
    if (keys.length === 0) return false
    const idleMs = visit === undefined ? IDLE_MS : VISIT_IDLE_MS
    const passwordMark = await password.mark()
    for (const key of keys) {
      const session = sessions.get(key)
      if (!session || session.visit !== visit) continue
      const isOver = clock() - session.usedAt >= idleMs || session.passwordMark !== passwordMark
      if (isOver || isUse) sessions.delete(key)
      if (isOver) continue
      // Moved to the end, so that the first entry of the map is the one used least recently.
      if (isUse) sessions.set(key, { ...session, usedAt: clock() })
      return true
    }
    return false
  }

  return {
    async signIn(request, typed) {
      const token = await start(request, typed)
      return setCookie(request, token, { attributes: `; Max-Age=${IDLE_MS / 1_000}` })
    },
    confirm: async (request, typed, visit) => setCookie(request, await start(request, typed, visit), { isVisit: true }),
    isConfirmed: (request, visit, { isUse }) => isLive(request, { visit, isUse }),
    signOut(request) {
      for (const key of tokensOf(request)) sessions.delete(key)
      return setCookie(request, '', { attributes: '; Max-Age=0' })
    },
    isSignedIn: (request) => isLive(request, { isUse: true }),
  }
}

/** The list holds hashes, not the tokens of browsers. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
