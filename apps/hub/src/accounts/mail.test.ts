import * as contract from '@hedgerow/contract'
import { generate } from 'otplib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestApi, nextAddress, refusal } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startMailServer } from '#testing/mail-server.ts'

const PASSWORD = 'gravel-lantern-42'
const NEW_PASSWORD = 'other-words-17'
const MINUTE_MS = 60_000

describe.each(testEngines)('mail about accounts on %s', (engine) => {
  let mail: Awaited<ReturnType<typeof startMailServer>>
  let hub: TestHub
  let url: string
  let api: ReturnType<typeof createTestApi>
  let made = 0
  beforeAll(async () => {
    mail = await startMailServer()
    hub = await startTestHub(engine, { notifications: { email: { url: mail.url, from: 'hub@example.org' } } })
    url = `http://127.0.0.1:${(await hub.start()).port}`
    api = createTestApi(hub)
  })
  afterAll(async () => {
    await hub?.stop()
    await mail.stop()
  })
  beforeEach(() => {
    mail.state.refuse = false
    mail.mails.length = 0
  })

  async function person(more: object = {}) {
    const username = `person-${++made}`
    const email = `${username}@example.org`
    const body = { username, email, password: PASSWORD, ...more }
    const answer = await api(contract.createUser, { token: await hub.signIn('admin'), body })
    return { ...(answer.body as contract.HubUser), username, email }
  }
  const signIn = (username: string, password: string) => api(contract.login, { body: { username, password } })
  const ask = (who: string, from = nextAddress()) => api(contract.requestPasswordReset, { from, body: { who } })
  const complete = (token: string, newPassword = NEW_PASSWORD, from = nextAddress()) =>
    api(contract.completePasswordReset, { from, body: { token, newPassword } })
  const mailsTo = (email: string) => mail.mails.filter(({ to }) => to.includes(email))
  /** The text is quoted-printable. */
  const linkIn = (text: string, path: string) =>
    new RegExp(`http://\\S+/${path}#(\\S+)`).exec(text.replaceAll('=3D', '='))?.[1] ?? ''
  async function linkFor(who: string, email: string): Promise<string> {
    const before = mailsTo(email).length
    expect(await ask(who)).toMatchObject({ status: 204 })
    await expect.poll(() => mailsTo(email).length).toBe(before + 1)
    return linkIn(mailsTo(email).at(-1)?.text ?? '', 'reset-password')
  }

  test('a link to the address before sets nothing, and who has no password gets none', async () => {
    const { id, username, email } = await person()
    const token = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    const own = await linkFor(username, email)
    const body = { email: `${username}@example.net`, currentPassword: PASSWORD }
    expect((await api(contract.editProfile, { token, body })).status).toBe(200)
    expect(await complete(own)).toMatchObject(refusal(403, 'reset_link_invalid'))
    const given = await linkFor(username, body.email)
    const admin = await hub.signIn('admin')
    expect((await api(contract.editUser, { token: admin, params: { id }, body: { email } })).status).toBe(200)
    expect(await complete(given)).toMatchObject(refusal(403, 'reset_link_invalid'))

    const kept = await linkFor(username, email)
    await hub.db.updateTable('users').set({ password_hash: '' }).where('id', '=', id).execute()
    expect(await complete(kept)).toMatchObject(refusal(403, 'reset_link_invalid'))
  })

  test('a link sets a new password once, and ends sessions, tokens and streams', async () => {
    const { id, username, email } = await person()
    const session = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    const answer = await api(contract.createToken, { token: session, body: { name: 'backup', password: PASSWORD } })
    const { token: program } = answer.body as { token: string }
    const streams = [session, program].map(async (bearer) =>
      (await fetch(`${url}/api/v1/hub/events`, { headers: { authorization: `Bearer ${bearer}` } })).text(),
    )
    const token = await linkFor(username.toUpperCase(), email)
    const stored = await hub.db.selectFrom('password_resets').selectAll().where('user_id', '=', id).execute()
    expect(stored).toHaveLength(1)
    expect(JSON.stringify(stored)).not.toContain(token)
    expect(await hub.db.selectFrom('notifications').selectAll().execute()).toEqual([])

    expect(await complete(token, 'short')).toMatchObject({
      status: 400,
      body: { message: 'Password must be at least 8 characters long' },
    })
    expect(await complete(token, `${username}-x`)).toMatchObject(refusal(400, 'password_too_weak'))
    expect(await complete(token)).toMatchObject({ status: 200, body: { username } })
    await Promise.allSettled(streams)
    for (const bearer of [session, program])
      expect(await api(contract.listGateways, { token: bearer })).toMatchObject(refusal(401, 'session_ended'))
    expect(await signIn(username, PASSWORD)).toMatchObject(refusal(401, 'invalid_credentials'))
    expect((await signIn(username, NEW_PASSWORD)).status).toBe(200)
    expect(await complete(token, 'third-words-18')).toMatchObject(refusal(403, 'reset_link_invalid'))
    const entries = await hub.db
      .selectFrom('audit')
      .select(['actor', 'action', 'reason'])
      .where('actor_id', '=', id)
      .orderBy('id')
      .execute()
    expect(entries).toEqual(
      expect.arrayContaining([
        { actor: username, action: 'password-reset.send', reason: null },
        { actor: username, action: 'user.reset-password', reason: 'by the link in a mail' },
      ]),
    )
  })

  test('of two who use one link at the same time one wins', async () => {
    const { username, email } = await person()
    const token = await linkFor(email, email)
    const answers = await Promise.all([complete(token), complete(token, 'third-words-18')])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403])
    expect(answers.find(({ status }) => status === 403)).toMatchObject(refusal(403, 'reset_link_invalid'))
    expect(mailsTo(email)[0]?.text).toContain(username)
  })

  test('every name gets the same answer, and only people who can sign in get a mail', async () => {
    const { username, email } = await person()
    const inactive = await person({ active: false })
    const answers = [await ask('nobody-at-all'), await ask(inactive.username), await ask(username)]
    for (const { status, body, headers } of answers) {
      expect({ status, body }).toEqual({ status: 204, body: undefined })
      expect(Object.keys(headers)).toEqual(Object.keys(answers[0]!.headers))
    }
    await expect.poll(() => mail.mails.map(({ to }) => to)).toEqual([[email]])
  })

  test('the answer does not wait for the mail server, and its failure shows to nobody', async () => {
    const { username, email } = await person()
    mail.state.refuse = true
    expect((await ask(username)).status).toBe(204)
    const links = () => hub.db.selectFrom('password_resets').innerJoin('users', 'users.id', 'user_id')
    await expect.poll(() => links().select('token_hash').where('username', '=', username).execute()).toHaveLength(1)
    expect(mailsTo(email)).toEqual([])
  })

  test('a link is over after 30 minutes, with a new password, and with its person', async () => {
    const { id, username, email } = await person()
    const late = await linkFor(username, email)
    hub.clock.advance(30 * MINUTE_MS)
    expect(await complete(late)).toMatchObject(refusal(403, 'reset_link_invalid'))

    const admin = await hub.signIn('admin')
    const replaced = await linkFor(username, email)
    await api(contract.editUser, { token: admin, params: { id }, body: { password: 'third-words-18' } })
    expect(await complete(replaced)).toMatchObject(refusal(403, 'reset_link_invalid'))

    const gone = await linkFor(username, email)
    await api(contract.editUser, { token: admin, params: { id }, body: { active: false } })
    await api(contract.editUser, { token: admin, params: { id }, body: { active: true } })
    expect(await complete(gone)).toMatchObject(refusal(403, 'reset_link_invalid'))
    expect((await signIn(username, 'third-words-18')).status).toBe(200)
  })

  test('a new password does not replace the second factor', async () => {
    const { id, username, email } = await person()
    const session = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    const { body } = await api(contract.setUpTwoFactor, { token: session, body: { password: PASSWORD } })
    const { secret } = body as { secret: string }
    const code = await generate({ secret, epoch: Math.floor(hub.clock.now() / 1_000) })
    expect((await api(contract.enableTwoFactor, { token: session, body: { code } })).status).toBe(200)
    expect((await complete(await linkFor(username, email))).status).toBe(200)
    expect((await signIn(username, NEW_PASSWORD)).body).toHaveProperty('twoFactorRequired', true)
  })

  test('a stolen session sends no link elsewhere: a new address takes the password', async () => {
    const { id, username, email } = await person()
    const token = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    const move = (password?: string) =>
      api(contract.editProfile, {
        token,
        body: { email: 'thief@example.org', ...(password && { currentPassword: password }) },
      })
    expect(await move()).toMatchObject({
      status: 400,
      body: { error: 'password_wrong', fieldErrors: { currentPassword: expect.any(String) } },
    })
    expect(await move('not this one')).toMatchObject(refusal(400, 'password_wrong'))
    expect((await api(contract.editProfile, { token, body: { email, firstName: 'Ada' } })).status).toBe(200)
    await linkFor(username, email)
    expect((await move(PASSWORD)).body).toMatchObject({ email: 'thief@example.org' })
  })

  test('nobody fills a mailbox, and one network asks and guesses only so often', async () => {
    const { username, email } = await person()
    for (let i = 0; i < 3; i++) await linkFor(username, email)
    expect((await ask(username)).status).toBe(204)
    // What is asked later is sent later.
    const other = await person()
    await linkFor(other.username, other.email)
    expect(mailsTo(email)).toHaveLength(3)

    const from = nextAddress()
    const asked = []
    for (let i = 0; i < 12; i++) asked.push((await ask('nobody-at-all', from)).status)
    expect(asked.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 204))
    expect(asked.at(-1)).toBe(429)
    const guessed = []
    for (let i = 0; i < 12; i++) guessed.push((await complete(`guess-${i}`, NEW_PASSWORD, from)).status)
    expect(guessed.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 403))
    expect(guessed.at(-1)).toBe(429)
  })

  test('a forged Host leads nowhere', async () => {
    const { username, email } = await person()
    await fetch(`${url}/api/v1/auth/password-reset`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-host': 'evil.example', host: 'evil.example' },
      body: JSON.stringify({ who: username }),
    })
    await expect.poll(() => mailsTo(email)).toHaveLength(1)
    expect(mailsTo(email)[0]?.text).not.toContain('evil')
  })

  test('an invitation goes by mail, and makes an account', async () => {
    const token = await hub.signIn('admin')
    const invite = (email: string) => api(contract.createUserInvitation, { token, body: { label: 'Rosa', email } })
    expect(await invite('rosa@example.org')).toMatchObject({
      status: 200,
      body: { mail: { to: 'rosa@example.org', problem: null } },
    })
    const [sent] = mailsTo('rosa@example.org')
    expect(sent?.header('Subject')).toContain('the-admin invites you to')
    const inviteCode = decodeURIComponent(linkIn(sent?.text ?? '', 'register').replace('invite=', ''))
    const account = { username: 'rosa-by-mail', email: 'rosa@example.org', firstName: 'Rosa', lastName: 'Lind' }
    const body = { ...account, password: PASSWORD, inviteCode }
    expect((await api(contract.registerAccount, { body })).status).toBe(200)
    const created = hub.db.selectFrom('audit').select('reason').where('action', '=', 'user-invitation.create')
    expect(await created.execute()).toContainEqual({ reason: 'by mail to rosa@example.org' })

    mail.state.refuse = true
    expect(await invite('emil@example.org')).toMatchObject({
      status: 200,
      body: { code: expect.any(String), mail: { problem: expect.stringContaining('the mailbox is full') } },
    })
    expect(await invite('not an address')).toMatchObject(refusal(400, 'invalid_request'))
  })
})

test('a hub without a mail server says so, to everybody the same', async () => {
  const hub = await startTestHub('sqlite')
  const api = createTestApi(hub)
  for (const who of ['first-admin', 'nobody'])
    expect(await api(contract.requestPasswordReset, { body: { who } })).toMatchObject(refusal(409, 'mail_unavailable'))
  const body = { email: 'rosa@example.org' }
  expect(await api(contract.createUserInvitation, { token: await hub.signIn('admin'), body })).toMatchObject(
    refusal(409, 'mail_unavailable'),
  )
  expect(await hub.db.selectFrom('user_invitations').selectAll().execute()).toEqual([])
  await hub.stop()
})
