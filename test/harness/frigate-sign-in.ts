import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export type FrigateCaller = { user: string; role: string }

/** The parts `auth` and `proxy` of Frigate's configuration. */
export type FrigateAccess = {
  /** `auth.enabled` */
  isEnabled: boolean
  users: Record<string, { password: string; role: string }>
  /** `proxy.auth_secret` */
  proxySecret: string | undefined
  /** `proxy.header_map`, in lower case. */
  userHeader: string | undefined
  roleHeader: string | undefined
  /**
   * `auth.roles`: the cameras of each role; every camera when there are none (models.py, `User.get_allowed_cameras`).
   */
  roles: Record<string, readonly string[]>
}

export type FrigateSignIn = {
  /** False when `auth.enabled` is: `/login` then does not exist (api/auth.py:849). */
  readonly isEnabled: boolean
  /** Whether the caller's role may see a camera (api/auth.py:1092, comms/ws.py:367). */
  maySee(caller: FrigateCaller, camera: string): boolean
  /** The caller; undefined when refused. */
  callerOf(request: IncomingMessage, isInternal: boolean): FrigateCaller | undefined
  /** The cookie of a session; undefined for a wrong name or password. */
  login(user: string, password: string): string | undefined
  /** Makes all tokens invalid, as after a restart with another secret. */
  endSessions(): void
}

const SESSION_SECONDS = 86_400

/** Frigate's sign-in at its two ports, in the order of its `/auth`. */
export function createFrigateSignIn(given: Partial<FrigateAccess>): FrigateSignIn {
  const access: FrigateAccess = {
    isEnabled: true,
    users: {},
    proxySecret: undefined,
    userHeader: undefined,
    roleHeader: undefined,
    ...given,
    roles: { admin: [], viewer: [], ...given.roles },
  }
  let secret = randomBytes(32)

  function sign(content: string): string {
    const head = Buffer.from(JSON.stringify({ alg: 'HS256' })).toString('base64url')
    const body = `${head}.${Buffer.from(content).toString('base64url')}`
    return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
  }

  function read(token: string): FrigateCaller | undefined {
    const [, body = ''] = token.split('.')
    const content = Buffer.from(body, 'base64url').toString()
    const [expected, found] = [Buffer.from(sign(content)), Buffer.from(token)]
    if (expected.length !== found.length || !timingSafeEqual(expected, found)) return undefined
    const { sub, role, exp } = JSON.parse(content) as { sub: string; role: string; exp: number }
    return exp > Date.now() / 1_000 ? { user: sub, role } : undefined
  }

  function header(request: IncomingMessage, name: string | undefined): string | undefined {
    const value = name === undefined ? undefined : request.headers[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  return {
    isEnabled: access.isEnabled,
    maySee({ role }, camera) {
      const cameras = access.roles[role] ?? []
      return role === 'admin' || cameras.length === 0 || cameras.includes(camera)
    },
    callerOf(request, isInternal) {
      if (isInternal) return { user: 'anonymous', role: 'admin' }
      if (access.proxySecret !== undefined && header(request, 'x-proxy-secret') !== access.proxySecret) return undefined
      if (!access.isEnabled) {
        const roles = (header(request, access.roleHeader) ?? '').split(',').map((role) => role.trim().toLowerCase())
        return {
          user: header(request, access.userHeader) ?? 'viewer',
          role: Object.keys(access.roles).find((role) => roles.includes(role)) ?? 'viewer',
        }
      }
      const bearer = /^Bearer (.+)$/.exec(header(request, 'authorization') ?? '')?.[1]
      const cookie = /(?:^|; )frigate_token=([^;]+)/.exec(header(request, 'cookie') ?? '')?.[1]
      const token = bearer ?? cookie
      return token === undefined ? undefined : read(token)
    },
    login(user, password) {
      const known = Object.hasOwn(access.users, user) ? access.users[user] : undefined
      if (known?.password !== password) return undefined
      const exp = Math.floor(Date.now() / 1_000) + SESSION_SECONDS
      const token = sign(JSON.stringify({ sub: user, role: known.role, exp, iat: exp - SESSION_SECONDS }))
      return `frigate_token=${token}; HttpOnly; Path=/; SameSite=lax`
    },
    endSessions: () => (secret = randomBytes(32)),
  }
}
