/**
 * The composition root: builds every long-lived part of a hub in the order in which they depend on each other, and
 * takes them down in reverse. The only file that knows every module. Called by main.ts, and by tests through
 * http/test-hub.ts.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { ensureFirstAdmin, type FirstAdmin } from './accounts/first-admin.ts'
import { createPasswords, type Passwords } from './accounts/passwords.ts'
import { accountRoutes } from './accounts/routes.ts'
import { createSessions } from './accounts/sessions.ts'
import { createSignIn } from './accounts/sign-in.ts'
import type { Config } from './config.ts'
import { openDatabase } from './database/database.ts'
import type { Tables } from './database/tables.ts'
import { createApi } from './http/api.ts'
import type { Sessions } from './http/sessions.ts'
import { createSourceAddress } from './http/source-address.ts'
import { readOrCreateSecret } from './settings/secrets.ts'

export type Hub = {
  app: FastifyInstance
  db: Kysely<Tables>
  sessions: Sessions
  passwords: Passwords
  /** Set when this start created the first admin. */
  firstAdmin: FirstAdmin | undefined
  /** Listens; before it, only `app.inject()` reaches the hub. */
  start(): Promise<{ url: string; port: number }>
  stop(): Promise<void>
}

export async function createHub(options: { config: Config; log: Logger; clock?: () => number }): Promise<Hub> {
  const { config, log, clock = Date.now } = options
  const database = await openDatabase({ url: config.databaseUrl })
  const { db } = database
  const passwords = createPasswords()
  const firstAdmin = await ensureFirstAdmin(db, passwords, config.admin)
  const secret = await readOrCreateSecret(db, 'token-secret', () => randomBytes(32).toString('base64'))
  const sessions = createSessions({ db, secret, clock })
  const sourceAddress = createSourceAddress(config.trustedProxies)

  const app = createApi({ face: 'public', log, sourceAddress, authenticate: sessions.authenticate })
  accountRoutes(app, { db, sessions, signIn: createSignIn({ db, sessions, passwords, clock }) })

  return {
    app,
    db,
    sessions,
    passwords,
    firstAdmin,
    async start() {
      await app.listen({ port: config.port, host: config.host ?? '::' })
      const address = app.server.address()
      const port = typeof address === 'object' && address ? address.port : config.port
      return { url: `http://localhost:${port}`, port }
    },
    async stop() {
      await app.close()
      sessions.stop()
      await database.close()
    },
  }
}
