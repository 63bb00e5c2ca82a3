/**
 * Two-factor sign-in: six digits of an authenticator app (TOTP, RFC 6238: SHA-1, 30 s) or a recovery code. A code works
 * once, in its own step and the steps before and after. Called by sign-in and by a person's own settings.
 */
import { generateSecret, generateURI, verify } from 'otplib'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Caller } from '../access/sessions.ts'
import { readSettings } from '../settings/settings.ts'
import type { UserRow } from './accounts.ts'
import { hashCode, makeCode, plainCode } from './codes.ts'
import type { Passwords } from './passwords.ts'
import type { Throttle } from './throttle.ts'
import type { TwoFactorSecrets } from './two-factor-secrets.ts'

const STEP_SECONDS = 30
const TOLERATED_STEPS = 1
const RECOVERY_CODES = 10
const PRODUCT = 'Hedgerow'

export type TwoFactorDependencies = {
  db: Kysely<Tables>
  passwords: Passwords
  secrets: TwoFactorSecrets
  clock: () => number
  /** Slows down guesses in a stolen session, by user id. */
  confirmations: Throttle
}

type Factors = Pick<TwoFactorDependencies, 'secrets' | 'clock'>

/**
 * Creates a secret; it takes effect when `enableTwoFactor` gets a code of it. Throws `two_factor_enabled` and
 * `password_wrong`.
 */
export async function setUpTwoFactor(
  deps: TwoFactorDependencies,
  password: string,
  act: Act,
): Promise<{ secret: string; otpauthUrl: string }> {
  const { db, secrets, passwords } = deps
  const secret = generateSecret()
  // Otherwise anyone at a signed-in browser could lock its owner out.
  await confirmed(deps, act, async () => {
    const user = await readUser(db, act.actor)
    if (user.two_factor_secret !== null) throw new HubError('two_factor_enabled')
    await confirmPassword(passwords, user, password, 'password')
  })
  await inTransaction(db, async (transaction) => {
    const updated = await transaction
      .updateTable('users')
      .set({ two_factor_pending: secrets.seal(secret, act.actor.userId) })
      .where('id', '=', act.actor.userId)
      .where('two_factor_secret', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (!updated) throw new HubError('two_factor_enabled')
    await record(transaction, { kind: 'two-factor.set-up', ...by(act), data: {} })
  })
  const { hubName } = await readSettings(db)
  return { secret, otpauthUrl: generateURI({ issuer: hubName || PRODUCT, label: act.actor.username, secret }) }
}

/** Throws `two_factor_disabled` before a setup, `two_factor_enabled` after it and `two_factor_code_wrong`. */
export async function enableTwoFactor(deps: TwoFactorDependencies, code: string, act: Act): Promise<string[]> {
  const { db, secrets, clock } = deps
  return confirmed(deps, act, async () => {
    const recoveryCodes = Array.from({ length: RECOVERY_CODES }, makeCode)
    await inTransaction(db, async (transaction) => {
      const user = await readUser(transaction, act.actor)
      if (user.two_factor_secret !== null) throw new HubError('two_factor_enabled')
      if (user.two_factor_pending === null) throw new HubError('two_factor_disabled')
      const step = await stepOf(code, secrets.open(user.two_factor_pending, user.id), clock())
      if (step === undefined) throw new HubError('two_factor_code_wrong')
      await transaction
        .updateTable('users')
        .set({ two_factor_secret: user.two_factor_pending, two_factor_pending: null, two_factor_step: step })
        .where('id', '=', user.id)
        .execute()
      await storeRecoveryCodes(transaction, user.id, recoveryCodes)
      await record(transaction, { kind: 'two-factor.enabled', ...by(act), data: {} })
    })
    return recoveryCodes
  })
}

/** Replaces all unused codes. Throws `password_wrong`, `two_factor_code_wrong` and `two_factor_disabled`. */
export async function renewRecoveryCodes(
  deps: TwoFactorDependencies,
  { password, code }: { password: string; code: string },
  act: Act,
): Promise<string[]> {
  const { db, passwords } = deps
  return confirmed(deps, act, async () => {
    const user = await readUser(db, act.actor)
    if (user.two_factor_secret === null) throw new HubError('two_factor_disabled')
    await confirmPassword(passwords, user, password, 'password')
    const recoveryCodes = Array.from({ length: RECOVERY_CODES }, makeCode)
    await inTransaction(db, async (transaction) => {
      await useCode(transaction, await readUser(transaction, act.actor), code, deps)
      await transaction.deleteFrom('recovery_codes').where('user_id', '=', user.id).execute()
      await storeRecoveryCodes(transaction, user.id, recoveryCodes)
      await record(transaction, { kind: 'recovery-codes.renewed', ...by(act), data: {} })
    })
    return recoveryCodes
  })
}

async function storeRecoveryCodes(db: Db, userId: string, recoveryCodes: readonly string[]): Promise<void> {
  const rows = recoveryCodes.map((recoveryCode) => ({ user_id: userId, code_hash: hashCode(recoveryCode) }))
  await db.insertInto('recovery_codes').values(rows).execute()
}

/** Throws `password_wrong`, `two_factor_code_wrong` and `two_factor_disabled`. */
export async function disableTwoFactor(
  deps: TwoFactorDependencies,
  { password, code }: { password: string; code: string },
  act: Act,
): Promise<void> {
  const { db, passwords } = deps
  await confirmed(deps, act, async () => {
    const user = await readUser(db, act.actor)
    if (user.two_factor_secret === null) throw new HubError('two_factor_disabled')
    await confirmPassword(passwords, user, password, 'password')
    await inTransaction(db, async (transaction) => {
      await useCode(transaction, await readUser(transaction, act.actor), code, deps)
      await transaction
        .updateTable('users')
        .set({ two_factor_secret: null, two_factor_pending: null, two_factor_step: null })
        .where('id', '=', user.id)
        .execute()
      await transaction.deleteFrom('recovery_codes').where('user_id', '=', user.id).execute()
      await record(transaction, { kind: 'two-factor.disabled', ...by(act), data: {} })
    })
  })
}

/**
 * Uses up an authenticator code or a recovery code of the user; returns which it was. Throws `two_factor_code_wrong`
 * for a wrong or used one and `two_factor_disabled` without two-factor.
 */
export async function useCode(
  db: Db,
  user: UserRow,
  code: string,
  { secrets, clock }: Factors,
): Promise<'authenticator' | 'recovery'> {
  if (user.two_factor_secret === null) throw new HubError('two_factor_disabled')
  const step = await stepOf(code, secrets.open(user.two_factor_secret, user.id), clock())
  if (step !== undefined) {
    const used = await db
      .updateTable('users')
      .set({ two_factor_step: step })
      .where('id', '=', user.id)
      .where((eb) =>
        eb.or([
          eb('two_factor_step', 'is', null),
          eb('two_factor_step', '<', step),
          // A code this much older is accepted only after the clock was set back: its owner must not be locked out.
          eb('two_factor_step', '>', step + 2 * TOLERATED_STEPS),
        ]),
      )
      .returning('id')
      .executeTakeFirst()
    if (!used) throw new HubError('two_factor_code_wrong')
    return 'authenticator'
  }
  const used = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', user.id)
    .where('code_hash', '=', hashCode(code))
    .returning('user_id')
    .executeTakeFirst()
  if (!used) throw new HubError('two_factor_code_wrong')
  return 'recovery'
}

/** Throws `password_wrong` for the field `field`. */
export async function confirmPassword(
  passwords: Passwords,
  user: UserRow,
  password: string,
  field: string,
): Promise<void> {
  if (await passwords.verify(password, user.password_hash)) return
  const { message } = new HubError('password_wrong')
  throw new HubError('password_wrong', { fieldErrors: { [field]: message } })
}

/** Runs `work` that checks a password or a code; counts it first, so that parallel guesses do not all get through. */
export async function confirmed<T>(
  { db, confirmations }: Pick<TwoFactorDependencies, 'db' | 'confirmations'>,
  act: Act,
  work: () => Promise<T>,
): Promise<T> {
  if (confirmations.waitMs(act.actor.userId) > 0) throw new HubError('too_many_requests')
  confirmations.failed(act.actor.userId)
  try {
    const result = await work()
    confirmations.reset(act.actor.userId)
    return result
  } catch (error) {
    const guessed = error instanceof HubError && ['password_wrong', 'two_factor_code_wrong'].includes(error.code)
    if (!guessed) confirmations.takeBack(act.actor.userId)
    else await record(db, { kind: 'identity.refused', ...by(act), data: {} })
    throw error
  }
}

export async function readUser(db: Db, caller: Caller): Promise<UserRow> {
  const user = await db.selectFrom('users').selectAll().where('id', '=', caller.userId).executeTakeFirst()
  if (!user) throw new HubError('session_ended')
  return user
}

/** The time step of the code, if it is one of the tolerated steps. */
async function stepOf(code: string, secret: string, nowMs: number): Promise<number | undefined> {
  const token = plainCode(code)
  if (!/^\d{6}$/.test(token)) return undefined
  const epoch = Math.floor(nowMs / 1_000)
  const result = await verify({ secret, token, epoch, epochTolerance: TOLERATED_STEPS * STEP_SECONDS })
  return result.valid && 'timeStep' in result ? result.timeStep : undefined
}
