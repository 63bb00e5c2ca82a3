/**
 * Tokens for programs: `hgr_`, 30 random characters and a checksum of 6, by which a mistyped one and what scanners of
 * published code find is told without the database. Only the SHA-256 is stored: nobody guesses 178 bits. sessions.ts
 * takes a token in the place of a session.
 */
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { TOKEN_PREFIX, TOKENS_MAX, type ApiToken, type Role, type tokenFields } from '@hedgerow/contract'
import type { Kysely, Selectable } from 'kysely'
import type { z } from 'zod'
import { lesserRole } from '../access/scope.ts'
import { isUniqueViolation } from '../database/storage-errors.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act, type Authorship } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'

const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const DAY_MS = 86_400_000
/** How often the last use is stored. */
const USE_STORED_AFTER_MS = 60_000

export type WantedToken = z.output<typeof tokenFields>

function makeToken(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('')
  return TOKEN_PREFIX + random + checksumOf(random)
}

function checksumOf(random: string): string {
  let rest = crc32(random)
  let text = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++, rest = Math.floor(rest / CHARACTERS.length))
    text = CHARACTERS.charAt(rest % CHARACTERS.length) + text
  return text
}

/** Whether a program's token may have this text. */
export function isToken(text: string): boolean {
  const body = text.slice(TOKEN_PREFIX.length)
  if (!text.startsWith(TOKEN_PREFIX) || body.length !== RANDOM_LENGTH + CHECKSUM_LENGTH) return false
  return checksumOf(body.slice(0, RANDOM_LENGTH)) === body.slice(RANDOM_LENGTH)
}

const hashToken = (token: string) => createHash('sha256').update(token).digest('base64')

export async function findTokenId(db: Db, token: string): Promise<string | undefined> {
  const tokens = db.selectFrom('api_tokens').select('id').where('token_hash', '=', hashToken(token))
  return (await tokens.executeTakeFirst())?.id
}

/** The tokens that have not expired. */
export function livingTokens(db: Db, now: number) {
  return db.selectFrom('api_tokens').where('expires_at', '>', now)
}

/** A token and its person, as a session and its person; undefined for one that was revoked. Stores its use. */
export async function readToken(db: Db, id: string, now: number) {
  const row = await db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'api_tokens.user_id')
    .select(['users.id', 'users.username', 'users.role', 'users.active', 'users.two_factor_secret'])
    .select(['api_tokens.created_at', 'api_tokens.expires_at', 'api_tokens.last_used_at'])
    .select(['api_tokens.name', 'api_tokens.access', 'api_tokens.role as token_role'])
    .where('api_tokens.id', '=', id)
    .executeTakeFirst()
  if (!row) return undefined
  if (row.last_used_at === null || Math.abs(now - row.last_used_at) >= USE_STORED_AFTER_MS) await storeUse(db, id, now)
  const { name, access, token_role: ofToken, ...person } = row
  return { ...person, role: lesserRole(person.role, ofToken), token: { name, access } }
}

/** A storage that takes no writes refuses no reads. */
async function storeUse(db: Db, id: string, now: number): Promise<void> {
  const use = db.updateTable('api_tokens').set({ last_used_at: now }).where('id', '=', id)
  await use.execute().catch(() => undefined)
}

export async function listTokens(db: Db, userId: string): Promise<ApiToken[]> {
  const tokens = db.selectFrom('api_tokens').selectAll().where('user_id', '=', userId)
  return (await tokens.orderBy('created_at', 'desc').orderBy('id').execute()).map(toApiToken)
}

/** Throws `token_role_too_high`, `too_many_tokens` and `token_name_taken`. */
export async function insertToken(
  db: Kysely<Tables>,
  user: { id: string; role: Role },
  { name, role = user.role, access, expiresInDays }: WantedToken,
  author: Authorship,
): Promise<{ token: string; details: ApiToken }> {
  if (lesserRole(user.role, role) !== role) throw new HubError('token_role_too_high')
  const token = makeToken()
  const row: Selectable<Tables['api_tokens']> = {
    id: randomUUID(),
    user_id: user.id,
    name,
    token_hash: hashToken(token),
    role,
    access,
    created_at: author.at,
    expires_at: author.at + expiresInDays * DAY_MS,
    last_used_at: null,
  }
  await inTransaction(db, async (transaction) => {
    if ((await listTokens(transaction, user.id)).length >= TOKENS_MAX) throw new HubError('too_many_tokens')
    await transaction.insertInto('api_tokens').values(row).execute()
    await record(transaction, { kind: 'token.created', ...author, target: row.id, data: { name, role, access } })
  }).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error
    const { message } = new HubError('token_name_taken')
    throw new HubError('token_name_taken', { fieldErrors: { name: message }, cause: error })
  })
  return { token, details: toApiToken(row) }
}

/** Throws `token_not_found`, also for another person's. */
export async function revokeToken(db: Kysely<Tables>, id: string, act: Act): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const revoked = await transaction
      .deleteFrom('api_tokens')
      .where('id', '=', id)
      .where('user_id', '=', act.actor.userId)
      .returning('name')
      .executeTakeFirst()
    if (!revoked) throw new HubError('token_not_found')
    await record(transaction, { kind: 'token.revoked', ...by(act), target: id, data: revoked })
  })
}

function toApiToken(row: Selectable<Tables['api_tokens']>): ApiToken {
  const moment = (at: number) => new Date(at).toISOString()
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    access: row.access,
    createdAt: moment(row.created_at),
    expiresAt: moment(row.expires_at),
    lastUsedAt: row.last_used_at === null ? null : moment(row.last_used_at),
  }
}
