/** People: their accounts, passwords and sessions. */
import { randomBytes } from 'node:crypto'
import type { Refusals } from '../access/refusals.ts'
import { readOrCreateSecret } from '../database/secrets.ts'
import { languageOf } from '../alerts/preferences.ts'
import type { App, Gives, Ground } from '../facts/room.ts'
import { endedSessions } from '../followers/sessions.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { createContact } from './contact.ts'
import { ensureFirstAdmin } from './first-admin.ts'
import { createOpenSession } from './open-session.ts'
import { createPasswords, type Hashing } from './passwords.ts'
import { accountRoutes, mailRoutes } from './routes.ts'
import { createSessions } from './sessions.ts'

const randomSecret = () => randomBytes(32).toString('base64')

export async function open(hub: Ground & { hashing?: Hashing; refusals: Refusals }) {
  const { db, config } = hub
  const passwords = createPasswords(hub)
  const firstAdmin = await ensureFirstAdmin(db, passwords, config.admin)
  const twoFactorKey = await readOrCreateSecret(db, 'two-factor-key', randomSecret)
  const sessions = createSessions({ ...hub, secret: await readOrCreateSecret(db, 'token-secret', randomSecret) })
  const openSession = createOpenSession({ ...hub, sessions })
  return {
    gives: { passwords, openSession, firstAdmin, sessions, contact: createContact(db, config.contactEmail) },
    follows: [endedSessions(sessions)],
    routes: (app: App) => accountRoutes(app, { ...hub, sessions, passwords, twoFactorKey, openSession }),
    stop: sessions.stop,
  }
}

/** What goes to people by mail. */
export function openMail(hub: Ground & Gives<typeof open> & { notifications: Notifications }) {
  const { db } = hub
  return { routes: (app: App) => mailRoutes(app, { ...hub, languageOf: (userId) => languageOf(db, userId) }) }
}
