import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as contract from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { connectAsync } from 'mqtt'
import { startMosquitto } from '../../../../test/harness/mosquitto.ts'
import { skipWithout } from '../../../../test/harness/privileges.ts'
import type { Config } from '../config.ts'
import { backupDatabase, restoreDatabase } from '../database/backup.ts'
import { createTestApi } from '#testing/api.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { createTestDevice } from '#testing/device.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startMailServer } from '#testing/mail-server.ts'
import { BOT, CHAT, NTFY_TOKEN, startMessengers, TOKEN, USER } from '#testing/messengers.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'

type Change = { enabled?: boolean; values?: Record<string, string | null>; seen?: object }
const JPEG = Buffer.from([0xff, 0xd8, 0xff])

describe.each(testEngines)('channels of the portal on %s', (engine) => {
  let messengers: Awaited<ReturnType<typeof startMessengers>>
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  beforeEach(async () => {
    messengers = await startMessengers()
    await begin({})
  })
  afterEach(async () => {
    await hub.stop()
    messengers.stop()
  })

  async function begin(config: Partial<Config>) {
    hub = await startTestHub(engine, {
      publicUrl: 'https://hub.example.net',
      channelHosts: [messengers.host],
      ...config,
    })
    api = createTestApi(hub)
    token = await hub.signIn('admin')
  }
  async function beginAgain(config: Partial<Config>) {
    await hub.stop()
    await begin(config)
  }
  const change = (name: string, body: Change) => {
    hub.clock.advance(1_000)
    return api(contract.editChannelSetup, { token, params: { name }, body })
  }
  const list = async () => (await api(contract.listChannelSetups, { token })).body as contract.ChannelSetup[]
  const setupOf = async (name: string) => (await list()).find((one) => one.name === name)!
  const test = async (channel: string) => {
    hub.clock.advance(1_000)
    const { body } = await api(contract.sendTestNotification, { token, query: { channel } })
    return (body as contract.ResponseOf<typeof contract.sendTestNotification>).channels[channel]
  }
  const ntfy = () => ({ enabled: true, values: { url: `${messengers.url}/farm`, token: NTFY_TOKEN } })
  const ok = { status: 200 }
  const refusedFields = (fieldErrors: object) => ({ status: 400, body: { error: 'invalid_request', fieldErrors } })

  it('are set up, tested with a picture, switched off and changed, without a restart', async () => {
    expect(await test('ntfy')).toEqual({ status: 'off', message: 'This channel is not set up.' })
    expect(await change('ntfy', ntfy())).toMatchObject(ok)
    expect(await test('ntfy')).toEqual({ status: 'sent', message: 'The ntfy server took it.' })
    const [sent] = messengers.state.taken
    expect(sent).toMatchObject({ path: '/farm', headers: { filename: 'picture.jpg' } })
    expect(sent!.body.subarray(0, 3)).toEqual(JPEG)

    expect(await change('ntfy', { enabled: false })).toMatchObject(ok)
    expect(await test('ntfy')).toEqual({ status: 'off', message: 'This channel is switched off.' })
    expect(
      await change('ntfy', { enabled: true, values: { url: `${messengers.url}/orchard`, token: '' } }),
    ).toMatchObject(ok)
    expect(await test('ntfy'), 'an empty secret is kept').toMatchObject({ status: 'sent' })
    expect(messengers.state.taken[1]).toMatchObject({ path: '/orchard' })

    expect(await change('ntfy', { values: { token: null } })).toMatchObject(ok)
    expect(await test('ntfy')).toEqual({ status: 'failed', message: 'ntfy answered 403: forbidden' })
    expect((await setupOf('ntfy')).fields.map(({ name, isSet }) => [name, isSet])).toEqual([
      ['url', true],
      ['token', false],
    ])
  })

  it('send what the hub announces, and nothing while they are off', async () => {
    await change('ntfy', ntfy())
    await createTestDevice(hub.app, { now: hub.clock.now, name: 'Barn' }).register()
    await hub.notifications.deliver()
    expect(messengers.state.taken.map(({ headers }) => headers['title'])).toEqual([expect.stringContaining('Barn')])
    await change('ntfy', { enabled: false })
    await createTestDevice(hub.app, { now: hub.clock.now, name: 'Shed' }).register()
    await hub.notifications.deliver()
    expect(messengers.state.taken).toHaveLength(1)
  })

  it('reach every messenger with its own fields', async () => {
    const receiver = await startWebhookReceiver()
    onTestFinished(receiver.stop)
    await beginAgain({ channelHosts: [messengers.host, new URL(receiver.url).host] })
    const setups: Record<string, Record<string, string>> = {
      telegram: { token: BOT, chat: CHAT, url: messengers.url },
      pushover: { token: TOKEN, user: USER, emergency: 'on', url: messengers.url },
      webhook: { url: receiver.url, secret: 'a secret for webhooks' },
    }
    for (const [name, values] of Object.entries(setups)) {
      expect(await change(name, { enabled: true, values })).toMatchObject(ok)
      expect(await test(name)).toMatchObject({ status: 'sent' })
    }
    const [telegram, pushover] = messengers.state.taken
    expect(telegram!.body.includes(JPEG)).toBe(true)
    const { attachment_base64: picture } = JSON.parse(pushover!.body.toString()) as { attachment_base64: string }
    expect(Buffer.from(picture, 'base64').subarray(0, 3)).toEqual(JPEG)
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ event: 'test', picture: expect.any(String) })
  })

  it('send mail through a server with a sign-in', async () => {
    const signIn = { username: 'hub@example.net', password: 'p@ss: 100% / ?' }
    const mail = await startMailServer(signIn)
    onTestFinished(mail.stop)
    await beginAgain({ channelHosts: [mail.host] })
    await api(contract.editAutoApprovalSettings, { token, body: { notificationEmail: 'owner@example.org' } })
    const values = { url: mail.url, ...signIn, from: 'Hub <hub@example.net>' }
    expect(await change('email', { enabled: true, values: { ...values, password: 'wrong' } })).toMatchObject(ok)
    expect(await test('email')).toMatchObject({ status: 'failed', message: expect.stringContaining('wrong username') })
    expect(await change('email', { values: { password: signIn.password } })).toMatchObject(ok)
    expect(await test('email')).toEqual({ status: 'sent', message: 'The mail server took it.' })
    expect(mail.mails[0]).toMatchObject({ to: ['owner@example.org'], from: 'hub@example.net' })
    expect(mail.mails[0]!.text).toContain('image/jpeg')
    const proxied = { values: { url: `${mail.url}/?proxy=http://127.0.0.1:9`, password: signIn.password } }
    expect(await change('email', proxied)).toMatchObject(
      refusedFields({ 'values.url': 'Mail server must have only a host and a port.' }),
    )
  })

  it.skipIf(skipWithout('a broker set up in the portal', 'command mosquitto'))(
    'publish over MQTT, for Home Assistant too, until they are switched off',
    { timeout: 60_000 },
    async () => {
      const broker = await startMosquitto()
      onTestFinished(() => broker.stop())
      await beginAgain({ channelHosts: [new URL(broker.url).host] })
      const client = await connectAsync(broker.url)
      onTestFinished(() => client.endAsync(true))
      const said = new Map<string, string>()
      client.on('message', (topic, payload) => void said.set(topic, payload.toString()))
      await client.subscribeAsync('#')
      await hub.start()
      const state = async () => (await api(contract.readHomeAssistant, { token })).body
      expect(await state()).toMatchObject({ state: 'off' })
      expect(await change('mqtt', { enabled: true, values: { url: broker.url, topic: 'farm' } })).toMatchObject(ok)
      expect(await test('mqtt')).toMatchObject({ status: 'sent' })
      await expect.poll(() => JSON.parse(said.get('farm/alerts') ?? '{}')).toMatchObject({ event: 'test' })
      await expect.poll(() => said.get('farm/status'), { timeout: 20_000 }).toBe('online')
      expect(await state()).toMatchObject({ state: 'connected' })
      await change('mqtt', { enabled: false })
      await expect.poll(() => said.get('farm/status'), { timeout: 20_000 }).toBe('offline')
      await expect.poll(state).toMatchObject({ state: 'off' })
    },
  )

  it('never give a secret back, and store it sealed for its channel', async () => {
    const secrets = [NTFY_TOKEN, BOT]
    const answers = [
      await change('ntfy', ntfy()),
      await change('telegram', { enabled: true, values: { token: BOT, chat: CHAT } }),
    ]
    await test('ntfy')
    const reads = [
      contract.listChannelSetups,
      contract.readNotificationChannels,
      contract.listDeliveries,
      contract.listAudit,
      contract.readHubSettings,
    ]
    for (const call of reads) answers.push(await api(call, { token }))
    const rows = await hub.db.selectFrom('channels').selectAll().execute()
    const facts = await hub.db.selectFrom('facts').selectAll().execute()
    expect(rows).toHaveLength(2)
    for (const secret of secrets) expect(JSON.stringify([answers, rows, facts])).not.toContain(secret)
    // The row of one channel opens no other.
    const [one, other] = rows
    await hub.db.updateTable('channels').set({ sealed: one!.sealed }).where('name', '=', other!.name).execute()
    expect(await setupOf(other!.name)).toMatchObject({ problem: 'Its secrets cannot be read: enter them again.' })
  })

  it('are those of before after a restart, and after a backup and its restore', async () => {
    const [first, second] = [
      await createTestDatabase(engine, { template: 'migrated' }),
      await createTestDatabase(engine),
    ]
    const folder = mkdtempSync(join(tmpdir(), 'hub-channels-'))
    onTestFinished(async () => {
      rmSync(folder, { recursive: true })
      await Promise.all([first.remove(), second.remove()])
    })
    await beginAgain({ databaseUrl: first.url })
    await change('ntfy', ntfy())
    const file = join(folder, 'backup')
    await backupDatabase(first.url, file)
    await restoreDatabase(second.url, file)
    for (const { url: databaseUrl } of [first, second]) {
      await hub.stop()
      hub = await startTestHub(engine, { databaseUrl, channelHosts: [messengers.host] })
      expect((await hub.notifications.test('ntfy'))['ntfy']).toMatchObject({ status: 'sent' })
    }
    expect(messengers.state.taken).toHaveLength(2)
  })

  it('leave an entry of the audit with the old and the new values, without secrets and paths', async () => {
    await change('ntfy', ntfy())
    await change('ntfy', { values: { url: 'https://ntfy.example.org/a-name-nobody-guesses', token: 'tk_other' } })
    await change('telegram', { values: { chat: '@farm' } })
    await change('telegram', { values: { chat: '@orchard' } })
    await change('telegram', { values: { chat: '@orchard' } })
    await change('ntfy', { enabled: false, values: { token: null } })
    const { body } = await api(contract.listAudit, { token })
    const entries = (body as contract.AuditEntry[]).filter(({ action }) => action === 'channel.change')
    expect(entries.map(({ target, reason }) => [target, reason]).toReversed()).toEqual([
      ['ntfy', `switched on; Topic from nothing to ${messengers.url}/…; Access token changed`],
      ['ntfy', `Topic from ${messengers.url}/… to https://ntfy.example.org/…; Access token changed`],
      ['telegram', 'Chat from nothing to @farm'],
      ['telegram', 'Chat from @farm to @orchard'],
      ['ntfy', 'switched off; Access token changed'],
    ])
  })

  it('are the variables’ where these set them up', async () => {
    await beginAgain({ notifications: { ntfy: { url: `${messengers.url}/farm` }, telegram: { url: messengers.url } } })
    const { fields, ...set } = await setupOf('ntfy')
    expect(set).toEqual({ name: 'ntfy', enabled: true, setUpBy: 'HUB_NTFY_URL', problem: null })
    expect(fields[0]).toMatchObject({ variable: 'HUB_NTFY_URL', isByVariable: true, isSet: true, value: null })
    expect(await change('ntfy', { enabled: false })).toMatchObject({
      status: 409,
      body: { error: 'channel_set_by_variable' },
    })
    const telegram = { enabled: true, values: { token: BOT, chat: CHAT } }
    const elsewhere = { ...telegram, values: { ...telegram.values, url: 'https://telegram.example.org' } }
    expect(await change('telegram', elsewhere)).toMatchObject(
      refusedFields({ 'values.url': 'HUB_TELEGRAM_URL sets this.' }),
    )
    // The operator named that server.
    await beginAgain({ channelHosts: [], notifications: { telegram: { url: messengers.url } } })
    expect(await change('telegram', telegram)).toMatchObject(ok)
    expect(await test('telegram')).toMatchObject({ status: 'sent' })
  })

  it('send no secret to another server than the one that it was entered for', async () => {
    const elsewhere = await startMessengers()
    onTestFinished(elsewhere.stop)
    await beginAgain({ channelHosts: [messengers.host, elsewhere.host] })
    await change('ntfy', ntfy())
    const moved = { url: `${elsewhere.url}/farm` }
    for (const values of [moved, { ...moved, token: '' }])
      expect(await change('ntfy', { values })).toMatchObject(
        refusedFields({ 'values.token': 'Access token was entered for another server: enter it again.' }),
      )
    await change('telegram', { enabled: true, values: { token: BOT, chat: CHAT } })
    expect(await change('telegram', { values: { url: elsewhere.url } })).toMatchObject(
      refusedFields({ 'values.token': 'Token of the bot was entered for another server: enter it again.' }),
    )
    expect(await change('ntfy', { values: { url: 'nothing' } })).toMatchObject({ status: 400 })
    // In two steps: away with the address, then another one.
    expect(await change('ntfy', { enabled: false, values: { url: null } })).toMatchObject({ status: 400 })
    expect(await change('ntfy', { values: { ...moved, token: NTFY_TOKEN } })).toMatchObject(ok)
    expect(elsewhere.state.taken).toEqual([])
  })

  it('send a secret of the operator to no server that the portal names', async () => {
    const { url, remove } = await createTestDatabase(engine, { template: 'migrated' })
    onTestFinished(() => remove())
    await beginAgain({ databaseUrl: url })
    await change('ntfy', { enabled: true, values: { url: `${messengers.url}/farm` } })
    await hub.stop()
    hub = await startTestHub(engine, {
      databaseUrl: url,
      channelHosts: [messengers.host],
      notifications: { ntfy: { token: NTFY_TOKEN } },
    })
    expect((await hub.notifications.test('ntfy'))['ntfy']).toMatchObject({ status: 'off' })
    expect(messengers.state.taken).toEqual([])
    await beginAgain({ notifications: { pushover: { user: USER } } })
    const values = { token: TOKEN, url: messengers.url }
    expect(await change('pushover', { enabled: true, values })).toMatchObject(
      refusedFields({ 'values.url': 'Server must be a variable of the hub, as HUB_PUSHOVER_USER is.' }),
    )
    expect(await change('pushover', { enabled: true, values: { token: TOKEN } })).toMatchObject(ok)
  })

  it('call only hosts on the Internet and those of HUB_CHANNEL_HOSTS, and tell no name from another', async () => {
    let connections = 0
    const listener = createServer((socket) => {
      connections++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void listener.close())
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    const webhook = (url: string) =>
      change('webhook', { enabled: true, values: { url, secret: 'a secret for webhooks' } })
    const refused = { 'values.url': expect.stringContaining('is not on the Internet') }
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '10.0.0.1',
      '169.254.169.254',
      '[::ffff:10.0.0.1]',
      '2130706433',
      '0x7f.1',
    ])
      expect(await webhook(`http://${host}:${port}/`), host).toMatchObject(refusedFields(refused))
    const results = []
    for (const host of ['localhost', 'no-such-name.invalid']) {
      expect(await webhook(`http://${host}:${port}/hook`)).toMatchObject(ok)
      results.push(await test('webhook'))
    }
    const same = { status: 'failed', message: 'The webhook could not be reached.' }
    expect(results).toEqual([same, same])

    // An IPv4 address in other words is a name to all but http.
    const names = ['localhost', 'no-such-name.invalid']
    const others: [string, string[], Record<string, string>, string][] = [
      [
        'email',
        [...names, '2130706433'],
        { url: `smtp://NAME:${port}`, from: 'hub@example.net' },
        'The mail server could not be reached.',
      ],
      [
        'mqtt',
        [...names, '2130706433'],
        { url: `mqtt://NAME:${port}` },
        `The broker at NAME:${port} cannot be reached.`,
      ],
      ['ntfy', names, { url: `http://NAME:${port}/x` }, 'ntfy could not be reached.'],
    ]
    await api(contract.editAutoApprovalSettings, { token, body: { notificationEmail: 'owner@example.org' } })
    for (const [name, hosts, values, text] of others)
      for (const host of hosts) {
        const of = (words: string) => words.replace('NAME', host)
        const named = Object.fromEntries(Object.entries(values).map(([field, value]) => [field, of(value)]))
        expect(await change(name, { enabled: true, values: named })).toMatchObject(ok)
        expect([name, host, await test(name)]).toEqual([name, host, { status: 'failed', message: of(text) }])
      }
    expect(connections).toBe(0)
    const { body } = await api(contract.listDeliveries, { token, query: { channel: 'webhook' } })
    expect(new Set((body as contract.Delivery[]).map(({ error }) => error))).toEqual(new Set([same.message]))
  })

  it.each([
    [
      'ntfy',
      { url: 'ftp://ntfy.example.org/x' },
      'values.url',
      'Topic must be the http:// or https:// address of a topic.',
    ],
    ['ntfy', { url: 'https://ada:secret@ntfy.example.org/x' }, 'values.url', 'Topic must have no sign-in.'],
    ['ntfy', { url: 'https://ntfy.example.org/x', nothing: 'x' }, 'values.nothing', 'This channel has no such field.'],
    ['ntfy', {}, 'values.url', 'Topic is needed while the channel is on.'],
    [
      'webhook',
      { url: 'https://example.org/x' },
      'values.secret',
      'Key of the signature is needed while the channel is on.',
    ],
    ['pushover', { emergency: 'maybe' }, 'values.emergency', expect.stringMatching(/^Emergency /)],
  ])('refuse for %s %j', async (name, values, field, text) => {
    const answer = await change(name, { enabled: true, values: values as Record<string, string> })
    expect(answer).toMatchObject({ status: 400, body: { fieldErrors: { [field]: text } } })
    expect(await setupOf(name)).toMatchObject({ enabled: false })
  })

  it('are for admins, and unknown ones are not found', async () => {
    const manager = await hub.signIn('manager')
    expect(await api(contract.listChannelSetups, { token: manager })).toMatchObject({ status: 403 })
    for (const name of ['pigeon', 'push', 'person'])
      expect(await change(name, { enabled: true })).toMatchObject({ status: 404, body: { error: 'channel_not_found' } })
  })
})
