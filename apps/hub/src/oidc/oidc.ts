/**
 * Signing in at a provider, and the links between accounts there and here. A new account here is made only for a person
 * to whom their groups give a role; an account that exists is linked by its password, never by an address alone.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import {
  emailAddress,
  personName,
  username as usernameSchema,
  type completeProviderSignIn,
  type ProviderLink,
  type ResponseOf,
  type Role,
} from '@hedgerow/contract'
import { sql, type Kysely } from 'kysely'
import type { Caller, Sessions } from '../access/sessions.ts'
import {
  deleteAccessOf,
  deleteSessionsOf,
  findById,
  insertUser,
  NO_PASSWORD,
  personalKey,
  requireAnAdmin,
  revokeInvitationsOf,
  type UserRow,
} from '../accounts/accounts.ts'
import { createSealing } from '../database/sealed.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, HUB, record, type Act } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { roleFor } from './provider-settings.ts'
import type { Begun, Provider, ProviderPerson } from './provider.ts'

const SIGN_IN_MS = 10 * 60_000
const PASSWORD_FRESH_MS = 5 * 60_000
const NAME_LENGTH = 100
const USED_MAX = 100_000

type From = { sourceIp: string; userAgent: string }
type Ticket = Begun & { provider: string; until: number }
type Link = { provider: string; subject: string; until: number }
type Sealed = { ticket: Ticket; link: Link }
type Answer = ResponseOf<typeof completeProviderSignIn>

export type OidcDependencies = {
  db: Kysely<Tables>
  sessions: Sessions
  clock: () => number
  providers: readonly Provider[]
  openSession: (
    user: UserRow,
    from: Parameters<Sessions['start']>[1],
    providerName: string,
  ) => Promise<Extract<Answer, { accessToken: string }>>
}

export function createOidc({ db, sessions, clock, providers, openSession }: OidcDependencies) {
  /** A restart ends sign-ins that are under way: the person presses the button again. */
  const sealing = createSealing(randomBytes(32).toString('base64'))
  const used = new Map<string, number>()

  function providerOf(id: string): Provider {
    const provider = providers.find(({ settings }) => settings.id === id)
    if (!provider) throw new HubError('provider_not_found')
    return provider
  }

  const nameOf = (issuer: string) => providers.find(({ settings }) => settings.issuer === issuer)?.settings.name

  /** Throws `provider_sign_in_ended` for what this hub did not seal for this purpose, or long ago. */
  function open<P extends keyof Sealed>(sealed: string, purpose: P): Sealed[P] {
    let content: Sealed[P]
    try {
      content = JSON.parse(sealing.open(sealed, purpose)) as Sealed[P]
    } catch (cause) {
      throw new HubError('provider_sign_in_ended', { cause })
    }
    const now = clock()
    if (content.until <= now || content.until > now + SIGN_IN_MS) throw new HubError('provider_sign_in_ended')
    return content
  }

  /** Throws the second time. */
  function useOnce(key: string, until: number, code: 'provider_sign_in_ended' | 'logout_token_invalid'): void {
    const now = clock()
    for (const [other, over] of used) if (over <= now || used.size > USED_MAX) used.delete(other)
    if (used.has(key)) throw new HubError(code)
    used.set(key, until)
  }

  const refuse = async (code: 'account_inactive' | 'provider_gives_no_role', person: ProviderPerson, from: From) => {
    const name = (person.username || person.email || person.subject).slice(0, NAME_LENGTH)
    const actor = { name, sourceIp: from.sourceIp }
    await record(db, { kind: 'session.refused', at: clock(), actor, data: {} })
    throw new HubError(code)
  }

  return {
    async begin(id: string): Promise<{ url: string; ticket: string }> {
      const { url, ...begun } = await providerOf(id).begin()
      const ticket: Ticket = { ...begun, provider: id, until: clock() + SIGN_IN_MS }
      return { url, ticket: sealing.seal(JSON.stringify(ticket), 'ticket') }
    },

    async complete(id: string, { ticket, answer }: { ticket: string; answer: string }, from: From): Promise<Answer> {
      const provider = providerOf(id)
      const begun = open(ticket, 'ticket')
      if (begun.provider !== id) throw new HubError('provider_sign_in_ended')
      useOnce(begun.state, begun.until, 'provider_sign_in_ended')
      const person = await provider.exchange(answer, begun)
      const { settings } = provider
      const role = roleFor(settings, person.groups)
      if (settings.roles.length > 0 && role === undefined) {
        // What was open with the role of before ends too.
        await inTransaction(db, async (transaction) => {
          const link = await findLink(transaction, settings.issuer, person.subject)
          if (link) await deleteAccessOf(transaction, link.user_id)
        })
        return refuse('provider_gives_no_role', person, from)
      }
      const now = clock()
      const found = await inTransaction(db, async (transaction) => {
        const link = await findLink(transaction, settings.issuer, person.subject)
        if (!link) {
          const user = role && (await createPerson(transaction, { person, role, settings, from, now }))
          return user && { user, linkId: await insertLink(transaction, { settings, person, user, now, from }) }
        }
        await transaction.updateTable('provider_links').set({ last_used_at: now }).where('id', '=', link.id).execute()
        const user = await findById(transaction, link.user_id)
        return { user: role ? await giveRole(transaction, user, role, now) : user, linkId: link.id }
      })
      if (!found) {
        const link: Link = { provider: id, subject: person.subject, until: now + SIGN_IN_MS }
        return { link: sealing.seal(JSON.stringify(link), 'link') }
      }
      if (!found.user.active) return refuse('account_inactive', person, from)
      const opened = { linkId: found.linkId, session: person.session, idToken: person.idToken }
      return openSession(found.user, { ...from, provider: opened }, settings.name)
    },

    async link(sealed: string, act: Act): Promise<void> {
      const { provider, subject } = open(sealed, 'link')
      const { settings } = providerOf(provider)
      const now = clock()
      await inTransaction(db, async (transaction) => {
        const session = await transaction
          .selectFrom('sessions')
          .select(['created_at', 'provider_link_id'])
          .where('id', '=', act.actor.sessionId)
          .executeTakeFirst()
        const age = now - (session?.created_at ?? 0)
        // A stolen session must not become a way in for good.
        if (!session || session.provider_link_id !== null || Math.abs(age) > PASSWORD_FRESH_MS)
          throw new HubError('password_too_long_ago')
        const before = await findLink(transaction, settings.issuer, subject)
        if (before && before.user_id !== act.actor.userId) throw new HubError('provider_account_taken')
        if (before) return
        await storeLink(transaction, { issuer: settings.issuer, subject, userId: act.actor.userId, now })
        await record(transaction, { kind: 'provider.linked', ...by(act), data: { provider: settings.name } })
      })
    },

    async list({ userId }: Caller): Promise<ProviderLink[]> {
      const rows = await db
        .selectFrom('provider_links')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map((row) => ({
        id: row.id,
        provider: nameOf(row.issuer) ?? row.issuer,
        createdAt: new Date(row.created_at).toISOString(),
        lastUsedAt: new Date(row.last_used_at).toISOString(),
      }))
    },

    async unlink(id: string, act: Act): Promise<void> {
      const { sessionId, userId } = act.actor
      const ended = await inTransaction(db, async (transaction) => {
        const link = await transaction
          .deleteFrom('provider_links')
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .returning('issuer')
          .executeTakeFirst()
        if (!link) throw new HubError('provider_link_not_found')
        const { password_hash: hash } = await findById(transaction, userId)
        const others = transaction.selectFrom('provider_links').select('id').where('user_id', '=', userId)
        if (hash === NO_PASSWORD && !(await others.executeTakeFirst())) throw new HubError('only_way_in')
        const provider = nameOf(link.issuer) ?? link.issuer
        await record(transaction, { kind: 'provider.unlinked', ...by(act), data: { provider } })
        return transaction.selectFrom('sessions').select('id').where('provider_link_id', '=', id).execute()
      })
      for (const session of ended) if (session.id !== sessionId) await sessions.end(session.id)
    },

    /** Where the session also ends at its provider; null when that has no such page, or is away. */
    async logoutUrl(sessionId: string): Promise<string | null> {
      const session = await db
        .selectFrom('sessions')
        .innerJoin('provider_links', 'provider_links.id', 'sessions.provider_link_id')
        .select(['issuer', 'id_token'])
        .where('sessions.id', '=', sessionId)
        .executeTakeFirst()
      const provider = providers.find(({ settings }) => settings.issuer === session?.issuer)
      if (!provider || !session?.id_token) return null
      return (await provider.logoutUrl(session.id_token).catch(() => undefined)) ?? null
    },

    async backChannelLogout(id: string, token: string, sourceIp: string): Promise<void> {
      const provider = providerOf(id)
      const { id: tokenId, untilMs, subject, session } = await provider.readLogoutToken(token)
      useOnce(`logout ${id} ${tokenId}`, untilMs, 'logout_token_invalid')
      let query = db
        .selectFrom('sessions')
        .innerJoin('provider_links', 'provider_links.id', 'sessions.provider_link_id')
        .innerJoin('users', 'users.id', 'sessions.user_id')
        .select(['sessions.id', 'users.id as userId', 'users.username'])
        .where('issuer', '=', provider.settings.issuer)
      if (subject !== undefined) query = query.where('subject', '=', subject)
      if (session !== undefined) query = query.where('provider_session', '=', session)
      for (const row of await query.execute()) {
        await sessions.end(row.id)
        const actor = { name: row.username, userId: row.userId, sourceIp }
        await record(db, { kind: 'session.ended', at: clock(), actor, data: { sessionId: row.id } })
      }
    },
  }
}

export type Oidc = ReturnType<typeof createOidc>

const findLink = (db: Db, issuer: string, subject: string) =>
  db
    .selectFrom('provider_links')
    .select(['id', 'user_id'])
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()

async function storeLink(db: Db, link: { issuer: string; subject: string; userId: string; now: number }) {
  const id = randomUUID()
  const { issuer, subject, userId, now } = link
  const row = { id, user_id: userId, issuer, subject, created_at: now, last_used_at: now }
  await db.insertInto('provider_links').values(row).execute()
  return id
}

type Arrival = { person: ProviderPerson; settings: Provider['settings']; from: From; now: number }

async function insertLink(db: Db, { person, settings, user, from, now }: Arrival & { user: UserRow }): Promise<string> {
  const id = await storeLink(db, { issuer: settings.issuer, subject: person.subject, userId: user.id, now })
  const actor = { name: user.username, userId: user.id, sourceIp: from.sourceIp }
  await record(db, { kind: 'provider.linked', at: now, actor, data: { provider: settings.name } })
  return id
}

/** Undefined when somebody here has the name or the address: it may be the same person, who then proves it. */
async function createPerson(db: Db, arrival: Arrival & { role: Role }): Promise<UserRow | undefined> {
  const { person, role, from, now } = arrival
  const username = [person.username, person.email].find((name) => usernameSchema.safeParse(name).success)
  if (username === undefined) return undefined
  const email = emailAddress.safeParse(person.email).data ?? ''
  const key = personalKey(username)
  let same = db.selectFrom('users').select('id').where('username_key', '=', key)
  if (email !== '')
    same = db
      .selectFrom('users')
      .select('id')
      .where(sql<boolean>`username_key = ${key} or lower(email) = ${email.toLowerCase()}`)
  if (await same.executeTakeFirst()) return undefined
  const name = (text: string) => personName.safeParse(text).data ?? ''
  const names = { firstName: name(person.firstName), lastName: name(person.lastName) }
  const user = await insertUser(db, { username, email, role, ...names }, NO_PASSWORD, now)
  const actor = { name: username, userId: user.id, sourceIp: from.sourceIp }
  await record(db, { kind: 'user.registered', at: now, actor, target: user.id, data: { username, role } })
  return user
}

/** Throws `last_admin`. What the person had open ends, as after every change of a role. */
async function giveRole(db: Db, user: UserRow, role: Role, now: number): Promise<UserRow> {
  if (user.role === role) return user
  await db.updateTable('users').set({ role }).where('id', '=', user.id).execute()
  await requireAnAdmin(db)
  await deleteSessionsOf(db, user.id)
  if (user.role === 'admin') await revokeInvitationsOf(db, user, { at: now, actor: HUB })
  const about = { at: now, actor: HUB, target: user.id }
  const { username } = user
  await record(db, { ...about, kind: 'user.updated', data: { username, changes: [`made ${role}`] } })
  await record(db, { ...about, kind: 'user.role-changed', data: {} })
  return { ...user, role }
}
