import { createHmac } from 'node:crypto'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import {
  enableTwoFactor,
  login,
  loginTwoFactor,
  setUpTwoFactor,
  type AutoApprovalSettings,
  type Role,
  editAlertPreferences,
  webhookMessage,
} from '@hedgerow/contract'
import { generate } from 'otplib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fingerprint } from '@hedgerow/enrolment'
import type { Config } from '../config.ts'
import { testEngines } from '#testing/databases.ts'
import { createTestApi, nextAddress } from '#testing/api.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startMailServer } from '#testing/mail-server.ts'
import { createTestDevice } from '#testing/device.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'

const SECRET = 'a secret for webhooks'

/** Accepts whole messages and disconnects before it says so. */
async function startForgetfulMailServer() {
  const state = { taken: 0 }
  const server = createTcpServer((socket) => {
    let isMessage = false
    let received = ''
    socket.on('error', () => {})
    socket.write('220 forgetful\r\n')
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk
      if (isMessage) {
        if (!received.endsWith('\r\n.\r\n')) return
        state.taken++
        socket.destroy()
        return
      }
      for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
        isMessage = received.startsWith('DATA')
        received = received.slice(end + 2)
        socket.write(isMessage ? '354 go on\r\n' : '250 yes\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `smtp://127.0.0.1:${port}`, state, stop: () => void server.close() }
}

describe.each(testEngines)('notifications on %s', (engine) => {
  let hub: TestHub
  let mail: Awaited<ReturnType<typeof startMailServer>>
  let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
  let config: Partial<Config>
  beforeEach(async () => {
    mail = await startMailServer()
    receiver = await startWebhookReceiver()
    config = {
      publicUrl: 'https://hub.example.net',
      notifications: {
        email: { url: mail.url, from: 'Hub <hub@example.net>' },
        webhook: { url: receiver.url, secret: SECRET },
      },
    }
    hub = await startTestHub(engine, config)
    await set({ notificationEmail: 'owner@example.org' })
  })
  afterEach(async () => {
    await hub.stop()
    await mail.stop()
    receiver.stop()
  })

  const call = async (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object, role: Role = 'admin') =>
    hub.app.inject({
      method,
      url: `/api/v1${url}`,
      headers: { authorization: `Bearer ${await hub.signIn(role)}` },
      ...(payload && { payload }),
    })
  const set = (settings: Partial<AutoApprovalSettings>) => call('PATCH', '/admin/auto-approval/settings', settings)
  const device = (name: string) => createTestDevice(hub.app, { now: hub.clock.now, name })
  const outbox = () =>
    hub.db.selectFrom('notifications').select(['channel', 'state', 'attempts', 'error']).orderBy('channel').execute()

  it('report a new request by mail and by signed webhook, once, however often the device asks', async () => {
    const barn = device('Barn\tüber')
    expect((await barn.register()).status, 'a tab is no part of a name').toBe(400)
    const shed = device('Shed "über"')
    await shed.register()
    await shed.register()
    await vi.waitFor(() => expect([mail.mails.length, receiver.received.length]).toEqual([1, 1]), { timeout: 30_000 })
    await hub.notifications.deliver()
    expect([mail.mails.length, receiver.received.length]).toEqual([1, 1])

    const [sent] = mail.mails
    expect(sent).toMatchObject({ to: ['owner@example.org'], from: 'hub@example.net' })
    expect(sent!.text).toContain('198.51.100.7')
    expect(sent!.text, 'what to compare').toContain(fingerprint(shed.identity.publicKey))
    expect(sent!.text, 'where to decide').toContain('https://hub.example.net/gateway-approvals')
    expect(sent!.header('Auto-Submitted')).toBe('auto-generated')

    const [posted] = receiver.received
    expect(webhookMessage.safeParse(JSON.parse(posted!.body)).error).toBeUndefined()
    const timestamp = String(posted!.headers['x-hedgerow-timestamp'])
    expect(Math.abs(Number(timestamp) - hub.clock.now() / 1_000)).toBeLessThan(60)
    const signature = createHmac('sha256', SECRET).update(`${timestamp}.${posted!.body}`).digest('hex')
    expect(posted!.headers['x-hedgerow-signature']).toBe(`sha256=${signature}`)
    expect(JSON.parse(posted!.body)).toMatchObject({
      event: 'registration.pending',
      id: posted!.headers['x-hedgerow-delivery'],
      url: 'https://hub.example.net/gateway-approvals',
      data: {
        deviceName: 'Shed "über"',
        sourceIp: '198.51.100.7',
        fingerprint: fingerprint(shed.identity.publicKey),
        keyChangeFor: null,
      },
    })
  })

  it('are in the language of the hub where no person or rule has another', async () => {
    await call('PATCH', '/hub/settings', { language: 'de' })
    await device('Stadel').register()
    await vi.waitFor(() => expect([mail.mails.length, receiver.received.length]).toEqual([1, 1]), { timeout: 30_000 })
    const title = 'Neues Gateway „Stadel“ wartet auf Freigabe, von 198.51.100.7'
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ title })
    expect(mail.mails[0]!.text).toContain('Fingerabdruck: ')
    await call('POST', '/admin/notifications/test?channel=webhook')
    expect(JSON.parse(receiver.received.at(-1)!.body)).toMatchObject({
      title: 'Testnachricht Ihres Hubs',
      text: 'Jemand hat den Hub gebeten, diese Nachricht zu senden. Es ist nichts zu tun.',
    })
  })

  it('notify the owner of an account of wrong codes after a right password, at most once an hour', async () => {
    const api = createTestApi(hub)
    const password = 'gravel-lantern-42'
    const id = await hub.addUser('rosa', 'user', password)
    await hub.db.updateTable('users').set({ email: 'rosa@example.net' }).where('id', '=', id).execute()
    const body = { username: 'rosa', password }
    const { accessToken: token } = (await api(login, { body })).body as { accessToken: string }
    const { secret } = (await api(setUpTwoFactor, { token, body: { password } })).body as { secret: string }
    const epoch = () => Math.floor(hub.clock.now() / 1_000)
    await api(enableTwoFactor, { token, body: { code: await generate({ secret, epoch: epoch() }) } })
    // The hub's alerts are off; notifications about one's own account have no such switch.
    await set({ notificationEnabled: false })

    const guess = async () => {
      const from = nextAddress()
      const { challenge } = (await api(login, { body, from })).body as { challenge: string }
      await api(loginTwoFactor, { body: { challenge, code: '000000' }, from })
      return from
    }
    await guess()
    await guess()
    await hub.notifications.deliver()
    expect(mail.mails, 'a mistyped code or two cause no notification').toEqual([])
    const from = await guess()
    for (let i = 0; i < 5; i++) await guess()
    await hub.notifications.deliver()
    expect(mail.mails.map(({ to }) => to)).toEqual([['rosa@example.net']])
    expect(mail.mails[0]!.text).toContain(from)
    expect(mail.mails[0]!.text).toContain('change your password')
    expect(receiver.received).toEqual([])

    await api(editAlertPreferences, { token, body: { language: 'de' } })
    hub.clock.advance(3_600_000)
    await guess()
    await guess()
    await hub.notifications.deliver()
    expect(mail.mails.length).toBe(2)
    expect(mail.mails[1]!.header('Subject'), 'in their language').toBe('Jemand kennt Ihr Passwort, aber nicht den Code')
    expect(mail.mails[1]!.text).toContain('Ihr Passwort')
  })

  it('do not slow down enrolment when no server answers', async () => {
    await mail.stop()
    receiver.state.status = 500
    const answer = await device('Barn').register()
    expect([answer.status, answer.body.status]).toEqual([202, 'pending'])
    await hub.notifications.deliver()
    expect(await outbox()).toMatchObject([
      { channel: 'email', state: 'waiting', attempts: 1, error: expect.stringContaining('ECONNREFUSED') },
      { channel: 'webhook', state: 'waiting', attempts: 1, error: 'The webhook answered 500.' },
    ])
  })

  it('of a request are not sent again once somebody has decided it', async () => {
    receiver.state.status = 503
    mail.state.refuse = true
    const { body } = await device('Barn').register()
    await hub.notifications.deliver()
    const rejected = await call('POST', `/admin/gateway-requests/${body.registrationId}/reject`, { reason: 'Not ours' })
    expect(rejected.statusCode).toBe(200)
    receiver.state.status = 200
    mail.state.refuse = false
    hub.clock.advance(600_000)
    await hub.notifications.deliver()
    expect([mail.mails.length, receiver.received.length]).toEqual([0, 1])
    expect(await outbox()).toEqual([])
  })

  it('are retried with growing pauses until they arrive, under the same id', async () => {
    receiver.state.status = 503
    mail.state.refuse = true
    await device('Barn').register()
    await hub.notifications.deliver()
    await hub.notifications.deliver()
    expect(receiver.received, 'not before its time').toHaveLength(1)
    hub.clock.advance(31_000)
    await hub.notifications.deliver()
    expect(receiver.received).toHaveLength(2)
    hub.clock.advance(31_000)
    await hub.notifications.deliver()
    expect(receiver.received, 'the pause doubles').toHaveLength(2)
    receiver.state.status = 200
    mail.state.refuse = false
    hub.clock.advance(3_600_000)
    await hub.notifications.deliver()
    expect((await outbox()).map(({ state }) => state)).toEqual(['sent', 'sent'])
    expect(new Set(receiver.received.map(({ headers }) => headers['x-hedgerow-delivery'])).size).toBe(1)
    expect(mail.mails).toHaveLength(1)
  })

  it('that wait for a time of a clock that was a year ahead are sent when it is set back', async () => {
    receiver.state.status = 503
    hub.clock.advance(365 * 86_400_000)
    await device('Barn').register()
    await hub.notifications.deliver()
    hub.clock.advance(-365 * 86_400_000)
    receiver.state.status = 200
    await hub.notifications.deliver()
    expect((await outbox()).map(({ channel, state }) => [channel, state])).toContainEqual(['webhook', 'sent'])
  })

  it('are given up after ten tries, and counted as failed', async () => {
    receiver.state.status = 410
    await device('Barn').register()
    for (let i = 0; i < 12; i++) {
      await hub.notifications.deliver()
      hub.clock.advance(3_600_000)
    }
    expect(receiver.received).toHaveLength(10)
    expect((await hub.notifications.status()).failed).toBe(1)
  })

  it('follow no redirect', async () => {
    const elsewhere = await startWebhookReceiver()
    receiver.state.status = 307
    receiver.state.location = elsewhere.url
    await device('Barn').register()
    await hub.notifications.deliver()
    expect(elsewhere.received).toEqual([])
    expect((await outbox()).at(-1)).toMatchObject({ state: 'waiting', error: 'The webhook answered 307.' })
    elsewhere.stop()
  })

  it('survive a hub that stops before they were sent, and are then sent once', async () => {
    await mail.stop()
    receiver.state.status = 503
    await device('Barn').register()
    await hub.notifications.deliver()
    // The state that a hub leaves when it dies while it sends both.
    await hub.db.updateTable('notifications').set({ state: 'sending' }).where('channel', '=', 'webhook').execute()
    receiver.state.status = 200
    await hub.notifications.start()
    hub.clock.advance(31_000)
    await hub.notifications.deliver()
    expect(receiver.received.map(({ headers }) => headers['x-hedgerow-delivery'])).toHaveLength(2)
    await hub.notifications.deliver()
    expect(receiver.received).toHaveLength(2)
  })

  it('never repeat a mail that may have arrived', async () => {
    await device('Barn').register()
    await vi.waitFor(() => expect(mail.mails).toHaveLength(1), { timeout: 30_000 })
    await hub.notifications.deliver()
    await hub.db.updateTable('notifications').set({ state: 'sending' }).where('channel', '=', 'email').execute()
    await hub.notifications.start()
    hub.clock.advance(3_600_000)
    await hub.notifications.deliver()
    expect(mail.mails).toHaveLength(1)
    expect((await outbox())[0]).toMatchObject({ channel: 'email', state: 'failed' })
  })

  it('never repeat a mail when the mail server disconnected before it confirmed it', async () => {
    const forgetful = await startForgetfulMailServer()
    await hub.stop()
    const smtp = { url: forgetful.url, from: 'hub@example.net' }
    hub = await startTestHub(engine, { notifications: { email: smtp } })
    await set({ notificationEmail: 'owner@example.org' })
    await device('Barn').register()
    await vi.waitFor(async () => expect((await outbox())[0]?.state).toBe('failed'), { timeout: 30_000 })
    hub.clock.advance(3_600_000)
    await hub.notifications.deliver()
    expect(forgetful.state.taken).toBe(1)
    expect(await outbox()).toMatchObject([
      { error: 'The mail server was lost after it had the message: it may have arrived.', attempts: 1 },
    ])
    forgetful.stop()
  })

  it('of a flood of requests are one mail a minute', async () => {
    await device('First').register()
    await vi.waitFor(() => expect(mail.mails).toHaveLength(1), { timeout: 30_000 })
    for (let i = 0; i < 20; i++) await device(`Flood ${i}`).register()
    await hub.notifications.deliver()
    expect(mail.mails).toHaveLength(1)
    hub.clock.advance(61_000)
    await hub.notifications.deliver()
    expect(mail.mails).toHaveLength(2)
    expect(mail.mails[1]!.header('Subject')).toBe('20 messages from your hub')
    expect(mail.mails[1]!.text).toContain('Flood 19')
  })

  it.each([
    ['the switch of auto-approval', () => set({ notificationEmail: 'owner@example.org', notificationEnabled: false })],
    ['the hub’s own switch', () => call('PATCH', '/hub/settings', { enableNotifications: false })],
  ])('are off with %s, also waiting ones', async (_name, switchOff) => {
    receiver.state.status = 503
    await device('Barn').register()
    await hub.notifications.deliver()
    const before = [mail.mails.length, receiver.received.length]
    await switchOff()
    await device('Shed').register()
    hub.clock.advance(120_000)
    await hub.notifications.deliver()
    expect([mail.mails.length, receiver.received.length]).toEqual(before)
    expect((await hub.notifications.status()).waiting).toBe(0)
  })

  it('go only by webhook without an address', async () => {
    await set({ notificationEmail: '' })
    await device('Barn').register()
    await hub.notifications.deliver()
    expect([mail.mails.length, receiver.received.length]).toEqual([0, 1])
  })

  it('do not report a device that a rule approved', async () => {
    await set({
      enabled: true,
      requireAdminApproval: false,
      ipWhitelist: ['198.51.100.7'],
      notificationEmail: 'a@b.org',
    })
    expect((await device('Barn').register()).body.status).toBe('approved')
    expect(await outbox()).toEqual([])
  })

  it('can be tested by an admin, who sees the result', async () => {
    const test = async (role?: Role) => (await call('POST', '/admin/notifications/test', undefined, role)).json()
    expect((await test('manager')).error).toBe('role_required')
    const [email, webhook] = [
      { status: 'sent', message: 'The mail server took it.' },
      { status: 'sent', message: 'It was accepted.' },
    ]
    const off = { status: 'off', message: 'This channel is not set up.' }
    expect(await test()).toEqual({
      email,
      webhook,
      channels: {
        email,
        webhook,
        mqtt: off,
        ntfy: off,
        portal: { status: 'sent', message: 'It is behind your bell.' },
        pushover: off,
        telegram: off,
      },
    })
    expect(mail.mails[0]!.header('Subject')).toBe('Test message from your hub')
    // With a picture, as an alert has.
    expect(mail.mails[0]!.text).toContain('image/jpeg')
    const { picture } = JSON.parse(receiver.received.at(-1)!.body) as { picture?: string }
    const bytes = Buffer.from(picture ?? '', 'base64')
    expect([...bytes.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff])
    expect(bytes.length).toBeLessThan(64 * 1_024)
    expect(bytes.length).toBeGreaterThan(4_096)
    const one = async (channel: string) =>
      (await call('POST', `/admin/notifications/test?channel=${channel}`, undefined)).json()
    expect((await one('webhook')).channels).toEqual({ webhook })
    expect(mail.mails).toHaveLength(1)
    expect((await one('pigeon')).fieldErrors).toEqual({ channel: 'This hub has no such channel.' })
    mail.state.refuse = true
    receiver.stop()
    expect(await test()).toMatchObject({
      email: { status: 'failed', message: expect.stringContaining('mailbox is full') },
    })
    await set({ notificationEmail: '' })
    expect((await test()).email.status).toBe('off')
    expect((await call('GET', '/admin/notifications', undefined, 'manager')).json()).toEqual({
      email: true,
      webhook: true,
      channels: {
        email: true,
        mqtt: false,
        ntfy: false,
        person: true,
        portal: true,
        push: true,
        pushover: false,
        telegram: false,
        webhook: true,
      },
      problems: { email: 'There is no notification email in the auto-approval settings.' },
      last: {
        email: { at: expect.any(String), error: expect.stringContaining('mailbox is full') },
        portal: { at: expect.any(String), error: null },
        webhook: { at: expect.any(String), error: expect.stringContaining('The webhook could not be reached') },
      },
      waiting: 0,
      failed: 0,
    })
  })
})
