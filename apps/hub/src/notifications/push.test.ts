import * as contract from '@hedgerow/contract'
import type { ResponseOf } from '@hedgerow/contract'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { createTestApi, refusal } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startPushService, type Browser, type PushService } from '#testing/push-service.ts'
import { ownedBy } from '../access/ownership.ts'
import { storeDetections, type PicturedDetection } from '../detections/detections.ts'
import { isPublicAddress, lookupPublic } from '../http/public-hosts.ts'
import { encryptPush } from './web-push.ts'

const JPEG = Buffer.from('/9j/AAAA', 'base64')

describe.each(testEngines)('alerts reach people on %s', (engine) => {
  let service: PushService
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let owner: { token: string; id: string }
  let gateway: string
  beforeAll(async () => {
    service = await startPushService()
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    service.refusals.length = 0
    hub = await startTestHub(engine, { pushHosts: [service.host] })
    hub.clock.freeze()
    api = createTestApi(hub)
    const token = await hub.signIn('user')
    const users = hub.db.selectFrom('users').select('id').where('username', '=', 'the-user')
    owner = { token, id: (await users.executeTakeFirstOrThrow()).id }
    gateway = await insertTestGateway(hub.db, { name: 'Barn', ...ownedBy(owner.id) })
  })
  afterEach(() => hub.stop())

  const subscribe = async (token: string): Promise<Browser> => {
    const { publicKey } = (await api(contract.readPush, { token })).body as ResponseOf<typeof contract.readPush>
    const browser = await service.addBrowser(publicKey)
    const answer = await api(contract.subscribePush, { token, body: browser.subscription })
    expect(answer).toMatchObject({ status: 200, body: { userAgent: 'test' } })
    return browser
  }
  const report = async (id: string, fields: Partial<PicturedDetection> = {}, seconds = 4) => {
    const startedAt = new Date(hub.clock.now()).toISOString()
    const seen = { id, camera: 'orchard', label: 'boar', severity: 'alert' as const, score: 0.9, startedAt, ...fields }
    await storeDetections(hub.db, gateway, [seen], hub.clock.now())
    await pass(seconds)
  }
  const pass = async (seconds: number) => {
    hub.clock.advance(seconds * 1_000)
    await hub.alertSteps.look()
    await hub.notifications.deliver()
  }
  const notices = async (token: string) =>
    (await api(contract.listNotices, { token })).body as ResponseOf<typeof contract.listNotices>
  const prefer = (body: object) => api(contract.editAlertPreferences, { token: owner.token, body })

  it('in their browsers, with picture and button that needs no session, and in the portal until read', async () => {
    const stranger = await hub.signIn('admin')
    const browser = await subscribe(owner.token)
    const foreign = await insertTestGateway(hub.db, { name: 'Mill' })
    const startedAt = new Date(hub.clock.now()).toISOString()
    const other = { camera: 'gate', severity: 'alert' as const, score: 1, startedAt }
    await storeDetections(hub.db, foreign, [{ ...other, id: 'f', label: 'deer' }], hub.clock.now())
    await report('a', { jpeg: JPEG })
    expect(service.refusals).toEqual([])
    expect(browser.shown).toHaveLength(1)
    const [{ payload, headers }] = browser.shown as [Browser['shown'][number]]
    expect(headers).toMatchObject({ urgency: 'high', topic: payload['tag'] })
    expect(payload).toMatchObject({
      title: expect.stringMatching(/^boar at Barn, orchard/),
      text: expect.not.stringContaining('Mill'),
      unread: 1,
      words: { acknowledge: 'Acknowledge', open: 'Open' },
    })
    const pictureToken = new URL(String(payload['pictureUrl'])).searchParams.get('token')!
    const picture = await hub.app.inject({ url: `/api/v1/alert-links/picture?token=${pictureToken}` })
    expect(picture.headers['content-type']).toBe('image/jpeg')
    expect(picture.rawPayload).toEqual(JPEG)
    expect(await api(contract.acknowledgeByLink, { body: { token: pictureToken } })).toMatchObject(
      refusal(403, 'alert_link_invalid'),
    )

    expect(await notices(owner.token)).toMatchObject({
      unread: 1,
      notices: [{ title: payload['title'], isRead: false, acknowledged: null }],
    })
    expect(await notices(stranger)).toMatchObject({ unread: 1, notices: [{ count: 2 }] })
    const { token } = payload['acknowledge'] as { token: string }
    expect(await api(contract.acknowledgeByLink, { body: { token } })).toMatchObject({
      body: { title: payload['title'], acknowledged: { by: 'the-user', via: 'push' } },
    })
    const acknowledged = hub.db
      .selectFrom('audit')
      .select(['actor', 'reason'])
      .where('action', '=', 'alert.acknowledge')
    expect(await acknowledged.execute()).toEqual([
      { actor: 'the-user', reason: 'by the link in a push message to the-user' },
    ])
    await api(contract.readNotices, { token: owner.token })
    expect(await notices(owner.token)).toMatchObject({ unread: 0, notices: [{ isRead: true }] })
    expect(await notices(stranger)).toMatchObject({ unread: 1 })
  })

  it('in their language, and after their quiet hours unless the rule breaks through or one acknowledged', async () => {
    const browser = await subscribe(owner.token)
    const timeOf = (ms: number) => new Date(ms).toISOString().slice(11, 16)
    const now = hub.clock.now()
    const quietHours = { from: timeOf(now - 60_000), to: timeOf(now + 30 * 60_000) }
    await prefer({ language: 'de', quietHours, timeZone: 'UTC' })
    await report('a')
    expect(browser.shown).toEqual([])
    expect((await notices(owner.token)).unread).toBe(1)
    await pass(31 * 60)
    expect(browser.shown.map(({ payload }) => payload['title'])).toEqual([
      expect.stringMatching(/^Wildschwein bei Barn/),
    ])

    const later = hub.clock.now()
    await prefer({ language: 'en', quietHours: { from: timeOf(later - 60_000), to: timeOf(later + 30 * 60_000) } })
    await report('b', { label: 'fox' })
    const [alert] = (await notices(owner.token)).notices
    const admin = await hub.signIn('admin')
    expect(await api(contract.acknowledgeAlert, { token: admin, params: { id: alert!.id } })).toMatchObject({
      status: 200,
    })
    await pass(20 * 60)
    const rules = (await api(contract.listAlertRules, { token: admin })).body as contract.AlertRule[]
    const { id } = rules[0]!
    await api(contract.editAlertRule, { token: admin, params: { id }, body: { breaksThrough: true } })
    await report('c', { label: 'deer' })
    expect(browser.shown.slice(1).map(({ payload }) => payload['title'])).toEqual([
      expect.stringMatching(/^deer at Barn/),
    ])
  })

  it('not in a browser that is gone or removed, or whose person was deactivated', async () => {
    const kept = await subscribe(owner.token)
    const list = async () =>
      ((await api(contract.readPush, { token: owner.token })).body as ResponseOf<typeof contract.readPush>)
        .subscriptions
    const [second] = await list()
    const gone = await subscribe(owner.token)
    gone.expire()
    await report('a')
    expect([gone.shown.length, kept.shown.length]).toEqual([0, 1])
    expect(await list()).toMatchObject([{ id: second!.id, lastAt: expect.any(String), lastError: null }])
    const rows = hub.db.selectFrom('notifications').select(['state', 'attempts']).where('channel', '=', 'push')
    expect(await rows.orderBy('state').execute()).toEqual([
      { state: 'failed', attempts: 1 },
      { state: 'sent', attempts: 1 },
    ])

    await prefer({ language: 'de', timeZone: 'UTC' })
    const tested = await api(contract.testPush, { token: owner.token, params: { id: second!.id } })
    expect(tested).toMatchObject({ body: { status: 'sent' } })
    expect(kept.shown.at(-1)!.payload['title'], 'in their language').toBe('Testnachricht Ihres Hubs')
    const manager = await hub.signIn('manager')
    for (const call of [contract.testPush, contract.unsubscribePush])
      expect(await api(call, { token: manager, params: { id: second!.id } })).toMatchObject(
        refusal(404, 'push_subscription_not_found'),
      )
    await hub.db.updateTable('users').set({ active: 0 }).where('id', '=', owner.id).execute()
    await report('b', { label: 'fox' }, 400)
    await hub.db.updateTable('users').set({ active: 1 }).where('id', '=', owner.id).execute()
    expect(kept.shown).toHaveLength(2)
    await api(contract.unsubscribePush, { token: owner.token, params: { id: second!.id } })
    await report('c', { label: 'deer' }, 400)
    expect(kept.shown).toHaveLength(2)
    expect(await list()).toEqual([])
  })

  it('not after Logout, the end of the browser’s session elsewhere, or a new password', async () => {
    const listed = async (token: string) =>
      ((await api(contract.readPush, { token })).body as ResponseOf<typeof contract.readPush>).subscriptions.length
    const signIn = async () => {
      const body = { username: 'the-user', password: 'the-password-of-user' }
      return ((await api(contract.login, { body })).body as { accessToken: string }).accessToken
    }
    const [phone, tablet] = [await signIn(), await signIn()]
    for (const token of [owner.token, phone, tablet]) await subscribe(token)
    expect(await listed(owner.token)).toBe(3)
    await api(contract.logout, { token: phone })
    expect(await listed(owner.token)).toBe(2)
    const sessions = (await api(contract.listSessions, { token: tablet })).body as ResponseOf<
      typeof contract.listSessions
    >
    const ofTablet = sessions.find(({ current }) => current)!
    await api(contract.endSession, { token: owner.token, params: { id: ofTablet.id } })
    expect(await listed(owner.token)).toBe(1)

    // A session that expires leaves the subscriptions.
    hub.clock.advance(30 * 86_400_000)
    const later = await signIn()
    expect(await listed(later)).toBe(1)
    const id = await hub.addUser('an-admin', 'admin', 'the-password-of-admin')
    const admin = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    const body = { password: 'other-words-1729' }
    expect(await api(contract.editUser, { token: admin, params: { id: owner.id }, body })).toMatchObject({
      status: 200,
    })
    const left = hub.db.selectFrom('push_subscriptions').select('id').where('user_id', '=', owner.id)
    expect(await left.execute()).toEqual([])
  })

  it('never through an address of the hub’s own network', async () => {
    const { keys } = (await service.addBrowser('')).subscription
    // Names are looked up when a message is sent.
    const named = { endpoint: 'https://localhost/send/x', keys }
    expect((await api(contract.subscribePush, { token: owner.token, body: named })).status).toBe(200)
    for (const endpoint of [
      `https://${service.host.replace('localhost', '127.0.0.1')}/send/x`,
      'https://127.0.0.1/x',
      'https://[::1]/x',
      'https://[::ffff:10.0.0.1]/x',
      'https://10.0.0.1/x',
      'https://2130706433/x',
      'https://push.example.net:8443/x',
      'https://user@push.example.net/x',
    ]) {
      const answer = await api(contract.subscribePush, { token: owner.token, body: { endpoint, keys } })
      expect(answer, endpoint).toMatchObject(refusal(400, 'push_endpoint_refused'))
    }
    await report('a')
    expect(await hub.db.selectFrom('notifications').select(['state', 'error']).execute()).toEqual([
      { state: 'waiting', error: 'localhost is not on the Internet' },
    ])
    const http = { endpoint: 'http://push.example.net/x', keys }
    expect((await api(contract.subscribePush, { token: owner.token, body: http })).status).toBe(400)
    const wrongKeys = { endpoint: 'https://push.example.net/x', keys: { ...keys, p256dh: 'A'.repeat(87) } }
    expect(await api(contract.subscribePush, { token: owner.token, body: wrongKeys })).toMatchObject(
      refusal(400, 'push_endpoint_refused'),
    )
  })

  it('and a test says the same of a name in the hub’s own network and of one that does not exist', async () => {
    const { keys } = (await service.addBrowser('')).subscription
    for (const name of ['localhost', 'no-such-name.invalid']) {
      const body = { endpoint: `https://${name}/send/x`, keys }
      const { id } = (await api(contract.subscribePush, { token: owner.token, body })).body as { id: string }
      expect(await api(contract.testPush, { token: owner.token, params: { id } }), name).toMatchObject({
        status: 200,
        body: { status: 'failed', message: 'The push service of this browser cannot be reached.' },
      })
    }
  })
})

test('a push message is encrypted as in RFC 8291 appendix A', () => {
  const body = encryptPush(
    Buffer.from('When I grow up, I want to be a watermelon'),
    {
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
    {
      publicKey: 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
      privateKey: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
    },
    Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url'),
  )
  expect(body.toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

test.each([
  ['8.8.8.8', true],
  ['2a00:1450::1', true],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['172.31.0.1', false],
  ['0.0.0.0', false],
  ['255.255.255.255', false],
  ['::1', false],
  ['::ffff:8.8.8.8', false],
  ['fd00::1', false],
  ['fe80::1', false],
  ['2002:a00:1::1', false],
  ['64:ff9b::a00:1', false],
])('whether %s is an address on the Internet: %s', (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic)
})

test('a name of this machine has no address on the Internet', async () => {
  const looked = await new Promise((resolve) => lookupPublic('localhost', { all: true }, (error) => resolve(error)))
  expect(String(looked)).toContain('localhost is not on the Internet')
})
