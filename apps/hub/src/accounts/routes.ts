import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Notifications } from '../notifications/notifications.ts'
import type { Tables } from '../database/tables.ts'
import { by, record } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { mount, type MountOptions } from '../http/mount.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import type { Sessions } from '../access/sessions.ts'
import { createUserInvitation, resetTwoFactor, toSessionUser } from './accounts.ts'
import type { Config } from '../config.ts'
import { mustSetUp } from './must-set-up.ts'
import type { OpenSession } from './open-session.ts'
import { createAccountMail } from './mail.ts'
import { createPasswordResets } from './password-reset.ts'
import type { Passwords } from './passwords.ts'
import * as own from './profile.ts'
import type { Refusals } from '../access/refusals.ts'
import { createSignIn } from './sign-in.ts'
import { createSignUp, readRegistrationInfo } from './sign-up.ts'
import { createThrottle } from './throttle.ts'
import { createSealing } from '../database/sealed.ts'
import * as tokens from './tokens.ts'
import * as twoFactor from './two-factor.ts'
import { listUserInvitations, revokeUserInvitation } from './user-invitations.ts'
import * as users from './users.ts'

const FREE_CONFIRMATIONS = 5
const CONFIRMATION_MAX_WAIT_MS = 15 * 60_000

/** People read the message of a refused form, so it names the field and the reason. */
const FORM: MountOptions = { messageOfFirstField: true }

export type AccountDependencies = {
  db: Kysely<Tables>
  sessions: Sessions
  passwords: Passwords
  clock: () => number
  /** 32 bytes as base64. */
  twoFactorKey: string
  refusals: Pick<Refusals, 'count'>
  openSession: OpenSession
  config: Pick<Config, 'localSignIn' | 'providers'>
}

type Mounted = own.ProfileDependencies &
  twoFactor.TwoFactorDependencies &
  Pick<AccountDependencies, 'refusals' | 'openSession' | 'config'>

/** Sign-in, sign-up, one's own account, and the users and invitations that admins manage. */
export function accountRoutes(app: FastifyInstance, dependencies: AccountDependencies): void {
  const deps: Mounted = {
    ...dependencies,
    secrets: createSealing(dependencies.twoFactorKey),
    confirmations: createThrottle({
      free: FREE_CONFIRMATIONS,
      maxWaitMs: CONFIRMATION_MAX_WAIT_MS,
      clock: dependencies.clock,
    }),
  }
  mountSessions(app, deps)
  mountSignUp(app, deps)
  mountProfile(app, deps)
  mountTokens(app, deps)
  mountTwoFactor(app, deps)
  mountUsers(app, deps)
  mountInvitations(app, deps)
}

function mountSessions(app: FastifyInstance, deps: Mounted): void {
  const { db, sessions } = deps
  const signIn = createSignIn({ ...deps, localSignIn: deps.config.localSignIn })

  mount(app, contract.login, ({ body, sourceIp, raw }) =>
    signIn.withPassword(body, { sourceIp, userAgent: raw.headers['user-agent'] ?? '' }),
  )
  mount(app, contract.loginTwoFactor, ({ body, sourceIp, raw }) =>
    signIn.withCode(body, { sourceIp, userAgent: raw.headers['user-agent'] ?? '' }),
  )
  mount(app, contract.validateSession, async ({ caller }) => {
    const user = await db.selectFrom('users').selectAll().where('id', '=', caller.userId).executeTakeFirst()
    if (!user) throw new HubError('session_ended')
    const session = await db
      .selectFrom('sessions')
      .leftJoin('provider_links', 'provider_links.id', 'sessions.provider_link_id')
      .select(['provider_link_id', 'issuer'])
      .where('sessions.id', '=', caller.sessionId)
      .executeTakeFirst()
    const provider = deps.config.providers.find(({ issuer }) => issuer === session?.issuer)?.name
    const mustSetUpTwoFactor = await mustSetUp(db, user, session?.provider_link_id)
    return { ...toSessionUser(user, mustSetUpTwoFactor), ...(provider !== undefined && { provider }) }
  })
  mount(app, contract.renewSession, async ({ caller }) => ({ accessToken: await sessions.renew(caller) }))
  mount(app, contract.logout, async (request) => {
    const { sessionId } = request.caller
    await sessions.end(sessionId)
    await record(db, { kind: 'session.ended', ...by(request.act), data: { sessionId } })
  })
}

function mountSignUp(app: FastifyInstance, deps: Mounted): void {
  const { localSignIn } = deps.config
  const signUp = createSignUp({ ...deps, localSignIn })
  mount(app, contract.registrationInfo, () => readRegistrationInfo(deps.db, localSignIn))
  mount(app, contract.registerAccount, ({ body, sourceIp }) => signUp(body, sourceIp), FORM)
}

function mountProfile(app: FastifyInstance, deps: Mounted): void {
  const { db, clock } = deps

  mount(app, contract.readProfile, ({ caller }) => own.readProfile(db, caller))
  for (const call of [contract.editProfile, contract.saveProfile])
    mount(app, call, ({ body, act }) => own.saveProfile(deps, body, act), FORM)
  mount(
    app,
    contract.changePassword,
    async (request) => {
      const userAgent = request.raw.headers['user-agent'] ?? ''
      return { accessToken: await own.changePassword(deps, request.body, request.act, userAgent) }
    },
    FORM,
  )
  mount(app, contract.listSessions, ({ caller }) => own.listOwnSessions(db, caller, clock()))
  mount(app, contract.endSession, (request) => own.endOwnSession(deps, request.params.id, request.act))
}

function mountTokens(app: FastifyInstance, deps: Mounted): void {
  const { db, sessions } = deps
  mount(app, contract.listTokens, ({ caller }) => tokens.listTokens(db, caller.userId))
  mount(app, contract.createToken, ({ body, act }) => own.createOwnToken(deps, body, act), FORM)
  mount(app, contract.revokeToken, async ({ params, act }) => {
    await tokens.revokeToken(db, params.id, act)
    await sessions.end(params.id)
  })
}

function mountTwoFactor(app: FastifyInstance, deps: Mounted): void {
  mount(app, contract.setUpTwoFactor, (request) => twoFactor.setUpTwoFactor(deps, request.body.password, request.act))
  mount(app, contract.renewRecoveryCodes, async (request) => {
    return { recoveryCodes: await twoFactor.renewRecoveryCodes(deps, request.body, request.act) }
  })
  mount(app, contract.enableTwoFactor, async (request) => {
    return { recoveryCodes: await twoFactor.enableTwoFactor(deps, request.body.code, request.act) }
  })
  mount(app, contract.disableTwoFactor, (request) => twoFactor.disableTwoFactor(deps, request.body, request.act))
}

function mountUsers(app: FastifyInstance, deps: Mounted): void {
  mount(app, contract.listUsers, async ({ query, reply }) => {
    const page = pageFrom(query, ['string', 'string'])
    const listed = await users.listUsers(deps.db, query, page)
    return sendPage(reply, listed, page, ({ position }) => position).map(({ user }) => user)
  })
  mount(app, contract.createUser, ({ body, act }) => users.addUser(deps, body, act), FORM)
  for (const call of [contract.editUser, contract.updateUser])
    mount(app, call, ({ params, body, act }) => users.updateUser(deps, params.id, body, act), FORM)
  mount(app, contract.deleteUser, (request) => users.deleteUser(deps.db, request.params.id, request.act))
  mount(app, contract.resetUserTwoFactor, async ({ params, act }) => {
    await resetTwoFactor(deps.db, params.id, by(act))
  })
}

export type MailDependencies = Pick<AccountDependencies, 'db' | 'passwords' | 'clock' | 'config'> & {
  log: Logger
  notifications: Pick<Notifications, 'requireMail' | 'sendMail'>
  languageOf: (userId: string) => Promise<contract.Language>
}

/** What goes by mail, which is opened after the accounts. */
export function mailRoutes(app: FastifyInstance, deps: MailDependencies): void {
  const { db, notifications } = deps
  const mail = createAccountMail({ ...deps, sendMail: notifications.sendMail })
  const resets = createPasswordResets({ ...deps, mail })
  const requireLocalSignIn = () => {
    if (!deps.config.localSignIn) throw new HubError('local_sign_in_off')
  }
  mount(
    app,
    contract.requestPasswordReset,
    ({ body, sourceIp }) => {
      requireLocalSignIn()
      notifications.requireMail()
      resets.request(body.who, sourceIp)
    },
    FORM,
  )
  mount(
    app,
    contract.completePasswordReset,
    ({ body, sourceIp }) => {
      requireLocalSignIn()
      return resets.complete(body.token, body.newPassword, sourceIp)
    },
    FORM,
  )
  mount(
    app,
    contract.createUserInvitation,
    async ({ body, act }) => {
      const { email } = body
      requireLocalSignIn()
      if (email !== undefined) notifications.requireMail()
      const made = await createUserInvitation(db, body, by(act))
      if (email === undefined) return made
      const until = new Date(made.invitation.expiresAt)
      const problem = await mail.sendInvitation(email, { code: made.code, by: act.actor.username, until })
      return { ...made, mail: { to: email, problem } }
    },
    FORM,
  )
}

function mountInvitations(app: FastifyInstance, { db, clock }: Mounted): void {
  mount(app, contract.listUserInvitations, ({ query, reply }) =>
    listUserInvitations(db, { query, reply, now: clock() }),
  )
  mount(app, contract.revokeUserInvitation, (request) => revokeUserInvitation(db, request.params.id, request.act))
}
