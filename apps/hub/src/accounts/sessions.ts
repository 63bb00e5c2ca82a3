/**
 * Sessions: a signed token that names a row. The signature keeps guesses away from the database; the row decides, so
 * ending a session works at once, whatever the token says. Called by http/ for every authenticated request, by sign-in,
 * and by the gateway proxy for pages that outlive a request.
 */
import { createSecretKey, randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { isAfterLeap } from '../database/clock-leaps.ts'
import type { Tables } from '../database/tables.ts'
import { createTasks } from '../kernel/tasks.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Caller, Sessions } from '../access/sessions.ts'
import { readSettings } from '../settings/settings.ts'
import { mustSetUp } from './must-set-up.ts'
import { findTokenId, isToken, livingTokens, readToken } from './tokens.ts'

const ALGORITHM = 'HS256'
const HMAC = { name: 'HMAC', hash: 'SHA-256' }
const ISSUER = 'hedgerow-hub'
const AUDIENCE = 'hedgerow-portal'
/**
 * How long a session counts as live after a check: another process (the command line, or a hub that is being replaced)
 * may end it.
 */
const TRUSTED_MS = 1_000
const REMEMBERED = 10_000
const SWEEP_INTERVAL_MS = 10_000
/** How soon streams end after another process, such as the command line, ended their session. */
const WATCH_INTERVAL_MS = 500
const WATCHED = 50_000
const WATCHED_PER_QUERY = 500
/** How far in the future a session may start: clock corrections of this size are normal. */
const CLOCK_TOLERANCE_MS = 5 * 60_000

type Found = { caller: Caller; active: boolean; mustSetUpTwoFactor: boolean; startedAt: number; expiresAt: number }

export function createSessions({
  db,
  secret,
  clock,
  log,
}: {
  db: Kysely<Tables>
  /** The hub's token secret, 32 bytes as base64. */
  secret: string
  clock: () => number
  log: Logger
}): Sessions {
  // jose imports a key of another form again for each token, which takes longer than the signature.
  const key = createSecretKey(secret, 'base64').toCryptoKey(HMAC, false, ['sign', 'verify'])
  const listeners = new Set<(sessionId: string) => void>()
  const remembered = new Map<string, { found: Found; at: number }>()
  /** Tokens whose signature was checked: a check is a job of another thread, and pages send one token many times. */
  const signed = new Map<string, { sessionId: string; expiresAtSeconds: number }>()
  /** Live sessions that this process opened or checked, with their users. */
  const watched = new Map<string, string>()
  /** Counts endings, so that a read that began before one is not cached after it. */
  let endings = 0
  /** Whose end was told, and who was not seen since. */
  const ended = new Set<string>()

  const tasks = createTasks({ log, name: 'sessions', on: 'each hub', failure: 'could not check for ended sessions' })
  tasks.every(SWEEP_INTERVAL_MS, sweep)
  tasks.every(WATCH_INTERVAL_MS, lookAfterWatched)

  /** After a leap of the clock the rows stay: with the clock set back, their sessions are not over. */
  async function sweep(): Promise<void> {
    const now = clock()
    if (await isAfterLeap(db, now)) {
      const over = await db.selectFrom('sessions').select('id').where('expires_at', '<=', now).execute()
      announceEnded(over.filter(({ id }) => watched.has(id)))
    } else announceEnded(await db.deleteFrom('sessions').where('expires_at', '<=', now).returning('id').execute())
  }

  /** Rows may also be deleted with their user, or by another process: a watched session without a row has ended. */
  async function lookAfterWatched(): Promise<void> {
    const ids = [...watched.keys()]
    for (let i = 0; i < ids.length; i += WATCHED_PER_QUERY) {
      const batch = ids.slice(i, i + WATCHED_PER_QUERY)
      const rows = await db
        .selectFrom('sessions')
        .select('id')
        .where('id', 'in', batch)
        .union(livingTokens(db, clock()).select('id').where('id', 'in', batch))
        .execute()
      const living = new Set(rows.map(({ id }) => id))
      announceEnded(batch.filter((id) => !living.has(id)).map((id) => ({ id })))
    }
  }

  function watch(sessionId: string, userId: string): void {
    if (watched.has(sessionId)) return
    if (watched.size >= WATCHED) watched.delete(watched.keys().next().value ?? sessionId)
    watched.set(sessionId, userId)
    ended.delete(sessionId)
  }

  /** Two that look at the same time may find the same end; the first tells it. */
  function announceEnded(sessions: { id: string }[]): void {
    if (sessions.length === 0) return
    endings++
    for (const { id } of sessions) {
      remembered.delete(id)
      watched.delete(id)
      if (ended.has(id)) continue
      if (ended.size >= WATCHED) ended.delete(ended.values().next().value ?? id)
      ended.add(id)
      for (const listener of listeners) listener(id)
    }
  }

  function rememberedFor(sessionId: string): Found | undefined {
    const remembrance = remembered.get(sessionId)
    return remembrance && Math.abs(clock() - remembrance.at) < TRUSTED_MS ? remembrance.found : undefined
  }

  function readSession(sessionId: string) {
    return db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(['users.id', 'users.username', 'users.role', 'users.active', 'users.two_factor_secret'])
      .select(['sessions.created_at', 'sessions.expires_at', 'sessions.provider_link_id'])
      .where('sessions.id', '=', sessionId)
      .executeTakeFirst()
  }

  /** A provider where the person signs in: it asks for the second factor of who made the token. */
  const linkOf = async (userId: string) =>
    (await db.selectFrom('provider_links').select('id').where('user_id', '=', userId).limit(1).executeTakeFirst())?.id

  async function read(sessionId: string): Promise<Found | undefined> {
    const remembrance = rememberedFor(sessionId)
    if (remembrance) return remembrance
    const now = clock()
    const endingsBefore = endings
    const session = await readSession(sessionId)
    const program = session ? undefined : await readToken(db, sessionId, now)
    const row = session ?? program
    remembered.delete(sessionId)
    if (!row) return undefined
    const token = program && { token: program.token }
    const caller: Caller = { userId: row.id, username: row.username, role: row.role, sessionId, ...token }
    const mustSetUpTwoFactor = await mustSetUp(db, row, session ? session.provider_link_id : await linkOf(row.id))
    const [startedAt, expiresAt] = [row.created_at, row.expires_at]
    const found = { caller, active: row.active === 1, mustSetUpTwoFactor, startedAt, expiresAt }
    if (remembered.size >= REMEMBERED) remembered.clear()
    // Setting up two-factor must count with the next request.
    if (endings === endingsBefore && !mustSetUpTwoFactor) remembered.set(sessionId, { found, at: now })
    watch(sessionId, caller.userId)
    return found
  }

  /** A session that starts in the future was opened while the clock was wrong, and would end that much too late. */
  function isOver({ startedAt, expiresAt }: Found): boolean {
    const now = clock()
    return expiresAt <= now || startedAt > now + CLOCK_TOLERANCE_MS
  }

  function callerOf(found: Found | undefined): Caller | undefined {
    const mayGoOn = found?.active && !found.mustSetUpTwoFactor && !isOver(found)
    return mayGoOn ? found.caller : undefined
  }

  async function expiry(now: number): Promise<number> {
    const { sessionTimeout } = await readSettings(db)
    return now + sessionTimeout * 1_000
  }

  function sign(sessionId: string, userId: string, expiresAt: number): Promise<string> {
    return new SignJWT()
      .setProtectedHeader({ alg: ALGORITHM })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(userId)
      .setJti(sessionId)
      .setIssuedAt(Math.floor(clock() / 1_000))
      .setExpirationTime(Math.floor(expiresAt / 1_000))
      .sign(key)
  }

  /** A token's id is that of a session which begins and ends with it. */
  async function sessionIdOf(token: string): Promise<string> {
    if (isToken(token)) {
      const id = await findTokenId(db, token)
      if (id === undefined) throw new HubError('session_ended')
      return id
    }
    const remembrance = signed.get(token)
    if (remembrance && Math.floor(clock() / 1_000) < remembrance.expiresAtSeconds) return remembrance.sessionId
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        currentDate: new Date(clock()),
        requiredClaims: ['exp', 'jti', 'sub'],
      })
      const sessionId = payload.jti as string
      if (signed.size >= REMEMBERED) signed.clear()
      signed.set(token, { sessionId, expiresAtSeconds: payload.exp as number })
      return sessionId
    } catch (error) {
      throw new HubError(error instanceof errors.JWTExpired ? 'session_ended' : 'session_required', { cause: error })
    }
  }

  return {
    async start(user, from) {
      const id = randomUUID()
      const now = clock()
      const expiresAt = await expiry(now)
      await inTransaction(db, async (transaction) => {
        // Otherwise a password that was replaced during its check would still open a session.
        const row = await transaction
          .selectFrom('users')
          .select('password_hash')
          .where('id', '=', user.id)
          .where('active', '=', 1)
          .executeTakeFirst()
        if (!row || (user.passwordHash !== undefined && row.password_hash !== user.passwordHash))
          throw new HubError('session_ended')
        await transaction
          .insertInto('sessions')
          .values({
            id,
            user_id: user.id,
            created_at: now,
            expires_at: expiresAt,
            source_ip: from.sourceIp,
            user_agent: from.userAgent.slice(0, 300),
            ...(from.provider && {
              provider_link_id: from.provider.linkId,
              provider_session: from.provider.session ?? null,
              id_token: from.provider.idToken,
            }),
          })
          .execute()
      })
      watch(id, user.id)
      return sign(id, user.id, expiresAt)
    },

    async authenticate(token, { evenBeforeTwoFactor = false } = {}) {
      const found = await read(await sessionIdOf(token))
      if (!found || isOver(found)) throw new HubError('session_ended')
      if (!found.active) throw new HubError('account_inactive')
      if (found.mustSetUpTwoFactor && !evenBeforeTwoFactor) throw new HubError('two_factor_setup_required')
      return found.caller
    },

    async renew(caller) {
      const expiresAt = await expiry(clock())
      const row = await db
        .updateTable('sessions')
        .set({ expires_at: expiresAt })
        .where('id', '=', caller.sessionId)
        .returning('id')
        .executeTakeFirst()
      if (!row) throw new HubError('session_ended')
      remembered.delete(caller.sessionId)
      return sign(caller.sessionId, caller.userId, expiresAt)
    },

    async end(sessionId) {
      await db.deleteFrom('sessions').where('id', '=', sessionId).execute()
      announceEnded([{ id: sessionId }])
    },

    async endAllOf(userId) {
      const remembrance = [...watched].flatMap(([id, owner]) => (owner === userId ? [{ id }] : []))
      const rows = await db.deleteFrom('sessions').where('user_id', '=', userId).returning('id').execute()
      announceEnded([...remembrance, ...rows])
    },

    find: async (sessionId) => callerOf(await read(sessionId)),
    remembered: (sessionId) => callerOf(rememberedFor(sessionId)),

    onEnded(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    stop: () => tasks.stop(),
  }
}
