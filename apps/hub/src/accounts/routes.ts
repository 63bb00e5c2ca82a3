import { login, logout, renewSession, validateSession } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { writeAudit } from '../audit/audit.ts'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../http/hub-error.ts'
import { mount } from '../http/mount.ts'
import type { Sessions } from '../http/sessions.ts'
import { toSessionUser } from './accounts.ts'
import type { SignIn } from './sign-in.ts'

export function accountRoutes(
  app: FastifyInstance,
  deps: { db: Kysely<Tables>; sessions: Sessions; signIn: SignIn },
): void {
  const { db, sessions, signIn } = deps

  mount(app, login, ({ body, sourceIp, raw }) => signIn(body, { sourceIp, userAgent: raw.headers['user-agent'] ?? '' }))

  mount(app, validateSession, async ({ caller }) => {
    const user = await db.selectFrom('users').selectAll().where('id', '=', caller.userId).executeTakeFirst()
    if (!user) throw new HubError('session_ended')
    return toSessionUser(user)
  })

  mount(app, renewSession, async ({ caller }) => ({ accessToken: await sessions.renew(caller) }))

  mount(app, logout, async ({ caller, sourceIp }) => {
    await sessions.end(caller.sessionId)
    await writeAudit(db, {
      actor: caller.username,
      actorId: caller.userId,
      action: 'session.end',
      sourceIp,
      result: 'ok',
    })
    return undefined
  })
}
