import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import * as contract from '@hedgerow/contract'
import { ALERT_RULE_DEFAULTS, type Alert, type AlertRule, type Incident, type Role } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestApi, refusal } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { testDetection } from '#testing/detection.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { ownedBy } from '../access/ownership.ts'
import { storeDetections, type PicturedDetection } from '../detections/detections.ts'

type Posted = {
  event: string
  title: string
  text: string
  url: string
  picture?: string
  data: Record<string, string>
  acknowledge: { page: string; token: string }
}
const JPEG = '/9j/AAAA'

async function startReceiver() {
  const received: Posted[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push(JSON.parse(body) as Posted)
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, stop: () => server.close() }
}

describe.each(testEngines)('alerts on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  let gateway: string
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  beforeEach(async () => {
    receiver = await startReceiver()
    hub = await startTestHub(engine, {
      notifications: {
        webhook: { url: receiver.url, secret: 'a secret for webhooks' },
        // Nothing listens there: tests read the mail in the outbox.
        email: { url: 'smtp://127.0.0.1:9', from: 'hub@example.net' },
      },
    })
    hub.clock.freeze()
    api = createTestApi(hub)
    token = await hub.signIn('admin')
    gateway = await insertTestGateway(hub.db, { name: 'Barn', location: 'Valley' })
    const [rule] = await rules()
    await change(rule!.id, { collectSeconds: 0 })
  })
  afterEach(async () => {
    await hub.stop()
    receiver.stop()
  })

  const rules = async () => (await api(contract.listAlertRules, { token })).body as AlertRule[]
  const change = async (id: string, fields: object) => {
    const saved = await api(contract.editAlertRule, { token, params: { id }, body: fields })
    expect(saved.status).toBe(200)
  }
  const seen = (id: string, fields: Partial<PicturedDetection> = {}) => testDetection(hub, id, fields)
  const report = (...detections: PicturedDetection[]) => storeDetections(hub.db, gateway, detections, hub.clock.now())
  const told = (count: number) => vi.waitFor(() => expect(receiver.received).toHaveLength(count), { timeout: 30_000 })
  const wait = async (seconds: number) => {
    hub.clock.advance(seconds * 1_000)
    await hub.notifications.deliver()
  }

  it('tell of each intruder once and at once, with the picture and a link that opens it', async () => {
    await report(seen('a', { jpeg: Buffer.from(JPEG, 'base64') }))
    await told(1)
    const [message] = receiver.received
    const [incident] = (await api(contract.listIncidents, { token, query: {} })).body as { id: string }[]
    expect(message).toMatchObject({
      event: 'incident.alert',
      title: expect.stringMatching(/^boar at Barn, orchard, \d\d:\d\d \S+$/),
      url: expect.stringMatching(new RegExp(`/threats\\?incident=${incident!.id}$`)),
      picture: JPEG,
      data: { rule: 'Every alert', incidents: '1' },
    })
    await report(seen('a', { score: 0.95 }), seen('b'))
    await wait(1_000)
    expect(receiver.received).toHaveLength(1)
  })

  it('are none about what a snoozed camera sees, which is an incident all the same', async () => {
    const start = hub.clock.now()
    const seconds = (count: number) => new Date(start + count * 1_000).toISOString()
    await report(seen('a', { snoozed: true, startedAt: seconds(0) }))
    // A later report of the same, after the snooze.
    await report(seen('a', { score: 0.95, startedAt: seconds(0) }))
    await wait(60)
    expect(receiver.received).toEqual([])
    const incidents = async () => (await api(contract.listIncidents, { token, query: {} })).body as Incident[]
    expect(await incidents()).toMatchObject([{ isSnoozed: true, detections: 1 }])
    const list = await api(contract.listDetections, { token, params: { id: gateway }, query: {} })
    expect(list.body).toMatchObject([{ id: 'a', snoozed: true }])
    const { body: preview } = await api(contract.previewAlertRule, {
      token,
      body: { ...ALERT_RULE_DEFAULTS, name: 'New' },
    })
    expect(preview).toMatchObject({ incidents: 0 })
    await report(seen('b', { startedAt: seconds(5) }))
    await told(1)
    expect((await incidents()).map(({ isSnoozed }) => isSnoozed)).toEqual([false, true])
  })

  it('have a test of the portal, a notice for the person who asked', async () => {
    const { body } = await api(contract.sendTestNotification, { token, query: { channel: 'portal' } })
    expect(body).toMatchObject({ channels: { portal: { status: 'sent' } } })
    const notices = async (of: string) => (await api(contract.listNotices, { token: of })).body
    expect(await notices(token)).toMatchObject({
      unread: 1,
      notices: [{ kind: 'test', title: 'Test message from your hub', path: '/alert-rules', isRead: false }],
    })
    expect(await notices(await hub.signIn('manager'))).toEqual({ unread: 0, notices: [] })
    expect((await api(contract.listAlerts, { token, query: {} })).body).toEqual([])
    expect((await api(contract.readNotificationChannels, { token })).body).toMatchObject({
      last: { portal: { at: new Date(hub.clock.now()).toISOString(), error: null } },
    })
    expect(receiver.received).toEqual([])
  })

  it('are one message that grows during a storm, then one after the cool-down', async () => {
    hub.clock.freeze()
    await change('every-alert', { collectSeconds: 3 })
    const labels = Array.from({ length: 300 }, (_, i) => `animal ${i}`)
    await report(seen('first'))
    await wait(3)
    await told(1)
    for (let i = 0; i < labels.length; i += 50)
      await report(...labels.slice(i, i + 50).map((label) => seen(label, { label })))
    // Labels that are new do not wait for the cool-down of others.
    await wait(10)
    await told(2)
    expect(receiver.received[1]).toMatchObject({
      title: expect.stringMatching(/^300 sightings at Valley: 1 animal 0, .* and 295 more$/),
      text: expect.stringContaining('and 290 more'),
    })
    await wait(50)
    await report(seen('again', { label: 'animal 0' }), seen('more', { label: 'animal 1' }))
    await wait(10)
    expect(receiver.received).toHaveLength(2)
    await wait(300)
    await told(3)
    await wait(1_000)
    expect(receiver.received).toHaveLength(3)
    expect((await rules())[0]).toMatchObject({ last: { incidents: 2 } })
  })

  it('are collected for as long as the rule says', async () => {
    await change('every-alert', { collectSeconds: 30 })
    await report(seen('a'))
    await wait(29)
    expect(receiver.received).toEqual([])
    await report(seen('b', { label: 'fox' }))
    await wait(1)
    await told(1)
    expect(receiver.received[0]).toMatchObject({ data: { incidents: '2' } })
  })

  const alerts = async (role: Role = 'admin') =>
    (await api(contract.listAlerts, { token: await hub.signIn(role), query: {} })).body as Alert[]
  const step = (afterMinutes: number) => ({ afterMinutes, channels: ['webhook'], people: [] })
  const escalate = async (minutes: number) => {
    hub.clock.advance(minutes * 60_000)
    await hub.alertSteps.look()
    await hub.notifications.deliver()
  }

  it('tell the next step by step until somebody acknowledges, live and in audit and activity', async () => {
    await change('every-alert', { coolDownSeconds: 0, steps: [step(10), step(5)] })
    await report(seen('a'))
    await told(1)
    await escalate(9)
    expect(receiver.received).toHaveLength(1)
    await escalate(1)
    expect(receiver.received[1]).toMatchObject({ title: expect.stringMatching(/^Not acknowledged: boar at Barn/) })
    expect(await alerts()).toMatchObject([{ step: 1, nextStepAt: expect.any(String), acknowledged: null }])
    const [alert] = await alerts()
    const body = await api(contract.acknowledgeAlert, { token: await hub.signIn('manager'), params: { id: alert!.id } })
    expect(body).toMatchObject({ status: 200, body: { acknowledged: { by: 'the-manager', via: 'portal' } } })
    await escalate(10)
    expect(receiver.received).toHaveLength(2)
    expect(await alerts()).toMatchObject([{ nextStepAt: null, acknowledged: { by: 'the-manager' } }])
    const activity = await hub.db.selectFrom('activity').select('message').orderBy('id').execute()
    expect(activity.slice(-2).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Alert "boar at Barn.*" was not acknowledged: step 1 of "Every alert" was sent$/),
      expect.stringMatching(/^Alert "boar at Barn.*" was acknowledged by the-manager$/),
    ])
    const audit = await hub.db.selectFrom('audit').select(['actor', 'action', 'target']).orderBy('id').execute()
    expect(audit.at(-1)).toMatchObject({ actor: 'the-manager', action: 'alert.acknowledge' })
    await report(seen('b', { label: 'fox' }))
    await escalate(10)
    await escalate(5)
    await escalate(10)
    expect(receiver.received, 'a message and both steps').toHaveLength(5)
  })

  it('reach the people of a rule by mail in their own languages, whatever the language of the rule', async () => {
    const people = []
    for (const language of ['en', 'de']) {
      const id = await hub.addUser(language, 'manager', 'four foxes in fog')
      await hub.db
        .updateTable('users')
        .set({ email: `${language}@example.net` })
        .where('id', '=', id)
        .execute()
      const body = { username: language, password: 'four foxes in fog' }
      const { accessToken } = (await api(contract.login, { body })).body as { accessToken: string }
      const preferences = { language, quietHours: null, timeZone: 'UTC' }
      await api(contract.editAlertPreferences, { token: accessToken, body: preferences })
      people.push(id)
    }
    await change('every-alert', { language: 'de', people, steps: [{ ...step(10), channels: ['email'], people }] })
    await report(seen('a'))
    await told(1)
    await escalate(10)
    const rows = await hub.db.selectFrom('notifications').select('content').where('channel', '=', 'person').execute()
    const mails = rows.map(({ content }) => JSON.parse(content) as { to: string; title: string; text: string })
    expect(mails.map(({ to, title }) => `${to}: ${title.replace(/, .*/, '')}`).toSorted()).toEqual([
      'de@example.net: Nicht bestätigt: Wildschwein bei Barn',
      'de@example.net: Wildschwein bei Barn',
      'en@example.net: Not acknowledged: boar at Barn',
      'en@example.net: boar at Barn',
    ])
    expect(receiver.received[0]!.title).toMatch(/^Wildschwein bei Barn/)
  })

  it('are told when the clock was a year ahead and is set back', async () => {
    const year = 365 * 86_400_000
    await change('every-alert', { steps: [step(10)] })
    hub.clock.advance(year)
    await report(seen('a'))
    await told(1)
    hub.clock.advance(-year)
    await escalate(0)
    expect(receiver.received[1]).toMatchObject({ title: expect.stringMatching(/^Not acknowledged: boar at Barn/) })
    await report(seen('b', { label: 'fox' }))
    await told(3)
    expect(receiver.received[2]).toMatchObject({ title: expect.stringMatching(/^fox at Barn/) })
  })

  it('are acknowledged by the link of a message, once, and only by a link of this hub', async () => {
    await report(seen('a'))
    await told(1)
    const { acknowledge, title } = receiver.received[0]!
    expect(acknowledge.page).toMatch(new RegExp(`/acknowledge#${acknowledge.token}$`))
    const read = await api(contract.readAlertLink, { body: { token: acknowledge.token } })
    expect(read).toMatchObject({ status: 200, body: { title, acknowledged: null } })
    expect(await alerts(), 'reading is no acknowledgement').toMatchObject([{ acknowledged: null }])
    const use = (token: string) => api(contract.acknowledgeByLink, { body: { token } })
    const [alertId, channel, userId, until, signature] = acknowledge.token.split('.') as [string, ...string[]]
    for (const forged of [
      [alertId, channel, userId, until, signature!.replace(/^./, (one) => (one === 'A' ? 'B' : 'A'))],
      [alertId, 'ntfy', userId, until, signature],
      [alertId, channel, userId, 'zzzzzz', signature],
      [alertId, channel, userId, until, ''],
      [...acknowledge.token.split('.'), 'more'],
      ['x'],
      [''],
      ['a token%20with a space'],
    ])
      expect(await use(forged.join('.'))).toMatchObject(refusal(403, 'alert_link_invalid'))
    expect(await alerts()).toMatchObject([{ acknowledged: null }])
    expect(await use(acknowledge.token)).toMatchObject({
      status: 200,
      body: { acknowledged: { via: 'webhook', by: '' } },
    })
    const [first] = await alerts()
    hub.clock.advance(60_000)
    expect(await use(acknowledge.token)).toMatchObject({ status: 200, body: { acknowledged: first!.acknowledged } })
    const entries = hub.db.selectFrom('audit').select(['actor', 'target', 'reason'])
    const how = 'by the link in a message over Webhook'
    expect(await entries.where('action', '=', 'alert.acknowledge').execute()).toEqual([
      { actor: 'Somebody unknown', target: title, reason: how },
    ])
    const activity = await hub.db.selectFrom('activity').select('message').orderBy('id').execute()
    expect(activity.at(-1)!.message).toBe(`Alert "${title}" was acknowledged ${how}`)
    hub.clock.advance(8 * 86_400_000)
    expect(await use(acknowledge.token)).toMatchObject(refusal(403, 'alert_link_invalid'))
  })

  it('are seen by the owner of the gateway and by managers, and a storm over several gateways in parts', async () => {
    const owner = await hub.signIn('user')
    expect(owner).toBeTruthy()
    const { id } = await hub.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'the-user')
      .executeTakeFirstOrThrow()
    const theirs = await insertTestGateway(hub.db, { name: 'Shed', ...ownedBy(id) })
    await change('every-alert', { collectSeconds: 60 })
    await report(...Array.from({ length: 12 }, (_, i) => seen(`a${i}`, { label: `animal ${i}` })))
    await storeDetections(hub.db, theirs, [seen('b', { label: 'fox' })], hub.clock.now())
    expect(await alerts()).toMatchObject([{ count: 13, title: expect.stringMatching(/^13 sightings at /) }])
    const [mine] = await alerts('user')
    expect(mine).toMatchObject({ count: 1, title: expect.stringMatching(/^fox at Shed/), lines: [expect.any(String)] })
    await change('every-alert', { collectSeconds: 0 })
    await wait(1_000)
    await report(seen('c', { label: 'deer' }))
    await told(2)
    const [foreign] = await alerts()
    expect((await alerts('user')).map(({ id: one }) => one)).toEqual([mine!.id])
    const refused = await api(contract.acknowledgeAlert, { token: owner, params: { id: foreign!.id } })
    expect(refused).toMatchObject(refusal(404, 'alert_not_found'))
  })

  it('tell what a rule asks for and nothing else, each rule for itself', async () => {
    const hill = await api(contract.addSite, { token: await hub.signIn('manager'), body: { name: 'Hill' } })
    await change('every-alert', { sites: [(hill.body as contract.Site).id] })
    const body = {
      ...ALERT_RULE_DEFAULTS,
      name: 'Foxes',
      severity: 'any',
      labels: ['fox'],
      collectSeconds: 0,
      coolDownSeconds: 0,
    }
    expect((await api(contract.addAlertRule, { token, body })).status).toBe(200)
    await report(seen('a'), seen('b', { label: 'fox', severity: 'detection' }))
    await told(1)
    await wait(100)
    expect(receiver.received.map(({ data }) => data['rule'])).toEqual(['Foxes'])
  })

  it('end with their rule and with the switch for all notifications, not with the one for approvals', async () => {
    await change('every-alert', { collectSeconds: 30 })
    await api(contract.editAutoApprovalSettings, { token, body: { notificationEnabled: false } })
    await report(seen('a'))
    await wait(30)
    await told(1)
    await api(contract.editHubSettings, { token, body: { enableNotifications: false } })
    await report(seen('b', { label: 'fox' }))
    await wait(1_000)
    await api(contract.editHubSettings, { token, body: { enableNotifications: true } })
    expect((await api(contract.deleteAlertRule, { token, params: { id: 'every-alert' } })).status).toBe(204)
    await report(seen('c', { label: 'deer' }))
    await wait(1_000)
    expect(receiver.received).toHaveLength(1)
  })

  it('can be previewed: what a rule would have told of in the last seven days', async () => {
    const day = 86_400_000
    for (const [i, ago] of [8 * day, 2 * day, 2 * day - 200_000, 2 * day - 260_000, day].entries())
      await report(seen(`d${i}`, { startedAt: new Date(hub.clock.now() - ago).toISOString() }))
    const preview = async (body: object) =>
      (await api(contract.previewAlertRule, { token, body: { ...ALERT_RULE_DEFAULTS, name: 'New', ...body } })).body
    expect(await preview({ coolDownSeconds: 300 })).toMatchObject({
      incidents: 4,
      messages: 3,
      isWhole: true,
      newest: [{ gatewayName: 'Barn' }, {}, {}, {}],
    })
    expect(await preview({ coolDownSeconds: 0, collectSeconds: 0 })).toMatchObject({ incidents: 4, messages: 4 })
    expect(await preview({ labels: ['fox'] })).toMatchObject({ incidents: 0, messages: 0, newest: [] })
  })

  it('without an active rule are a problem of the hub, shown to people who can change that', async () => {
    const problems = async (who: string) => (await api(contract.hubProblems, { token: who })).body
    expect(await problems(token)).toEqual([])
    await change('every-alert', { enabled: false })
    const message = 'No active alert rule covers what cameras see: nobody gets a message about a threat.'
    expect(await problems(await hub.signIn('manager'))).toEqual([{ part: 'alerts', message }])
    expect(await problems(await hub.signIn('user'))).toEqual([])
    await change('every-alert', { enabled: true })
    await api(contract.editHubSettings, { token, body: { enableNotifications: false } })
    expect(await problems(token)).toEqual([
      { part: 'alerts', message: 'Notifications are off in the settings: nobody gets a message about a threat.' },
    ])
  })

  it('have rules that admins change and managers see, with errors that name the field', async () => {
    const [manager, user] = [await hub.signIn('manager'), await hub.signIn('user')]
    expect(await api(contract.listAlertRules, { token: manager })).toMatchObject({ status: 200 })
    expect(await api(contract.listAlertRules, { token: user })).toMatchObject({ status: 403 })
    expect(await api(contract.addAlertRule, { token: manager, body: { name: 'x' } })).toMatchObject({ status: 403 })
    expect(
      await api(contract.addAlertRule, {
        token,
        body: { ...ALERT_RULE_DEFAULTS, name: '', hours: { from: '25:00', to: '1' } },
      }),
    ).toMatchObject({
      status: 400,
      body: { fieldErrors: { name: 'Enter a name', 'hours.from': expect.any(String) } },
    })
    const gone = { token, params: { id: 'nothing' } }
    expect(await api(contract.deleteAlertRule, gone)).toMatchObject({ status: 404 })
    for (let i = 0; i < 99; i++)
      await api(contract.addAlertRule, { token, body: { ...ALERT_RULE_DEFAULTS, name: `Rule ${i}` } })
    const full = await api(contract.addAlertRule, { token, body: { ...ALERT_RULE_DEFAULTS, name: 'One more' } })
    expect(full).toMatchObject({ status: 409, body: { error: 'too_many_alert_rules' } })
  })
})
