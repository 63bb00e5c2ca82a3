/** People who signed in with the device's password: a cookie for each browser, and the list of them in memory. */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createBuckets, type Rate } from '@hedgerow/http'
import { Refusal } from '../../calls/errors.ts'
import { OWN_COOKIE_PREFIX } from '../../kernel/own-cookie.ts'
import type { DevicePassword } from '../../kernel/password.ts'

export type Sessions = {
  /** Returns the value of `Set-Cookie`. Throws `Refusal` for a wrong password and for too many attempts. */
  signIn(request: IncomingMessage, password: string): Promise<string>
  /** Throws `Refusal` unless it is the device's password. */
  verify(request: IncomingMessage, password: string): Promise<void>
  /** Ends the request's session; returns the value of `Set-Cookie` that removes its cookie. */
  signOut(request: IncomingMessage): string
  isSignedIn(request: IncomingMessage): Promise<boolean>
}

type Session = { passwordMark: string; usedAt: number }

/** Enough for a person who mistypes; a script cannot guess 79 bits at any of these rates. */
const ATTEMPTS_OF_SOURCE: Rate = { burst: 8, perSecond: 0.1 }
/** Each attempt keeps a small board busy. */
const ATTEMPTS_OF_ALL: Rate = { burst: 30, perSecond: 1 }
const SOURCES_REMEMBERED = 1_024
const IDLE_MS = 7 * 86_400_000
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

  function setCookie(request: IncomingMessage, value: string, attributes: string): string {
    const isSecure = request.headers.origin?.startsWith('https:') ?? false
    return (
      `${cookieName(isSecure)}=${value}; Path=/;${isSecure ? ' Secure;' : ''} HttpOnly; ` +
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

  async function verify(request: IncomingMessage, typed: string): Promise<void> {
    throttle(request.socket.remoteAddress ?? '')
    if (!(await password.verify(typed))) throw new Refusal('wrong_password')
  }

  return {
    verify,
    async signIn(request, typed) {
      // Read before the check: a password that is replaced meanwhile ends this session too.
      const passwordMark = await password.mark()
      await verify(request, typed)
      const token = randomBytes(32).toString('base64url')
      sessions.set(keyOf(token), { passwordMark, usedAt: clock() })
      const [oldest] = sessions.keys()
      if (sessions.size > SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest)
      return setCookie(request, token, `; Max-Age=${IDLE_MS / 1_000}`)
    },
    signOut(request) {
      for (const key of tokensOf(request)) sessions.delete(key)
      return setCookie(request, '', '; Max-Age=0')
    },
    async isSignedIn(request) {
      for (const key of tokensOf(request)) {
        const session = sessions.get(key)
        if (!session) continue
        if (clock() - session.usedAt < IDLE_MS && session.passwordMark === (await password.mark())) {
          // Moved to the end, so that the first entry of the map is the one used least recently.
          sessions.delete(key)
          sessions.set(key, { ...session, usedAt: clock() })
          return true
        }
        sessions.delete(key)
      }
      return false
    },
  }
}

/** The list holds hashes, not the tokens of browsers. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
