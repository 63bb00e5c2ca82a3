import * as contract from '@hedgerow/contract'
import type { Alert, AlertRule, ResponseOf, Role } from '@hedgerow/contract'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { testDetection } from '#testing/detection.ts'
import { createTestDevice } from '#testing/device.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startPushService, type PushService } from '#testing/push-service.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { ownedBy } from '../access/ownership.ts'
import { storeDetections, type PicturedDetection } from '../detections/detections.ts'

const JPEG = Buffer.from('/9j/AAAA', 'base64')
const MINUTE_MS = 60_000

type Mail = { to: string; title: string; text: string; path: string; picture?: { gatewayId: string } }

describe.each(testEngines)('messages of alerts on %s', (engine) => {
  let service: PushService
  let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let admin: string
  beforeAll(async () => {
    service = await startPushService()
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    receiver = await startWebhookReceiver()
    hub = await startTestHub(engine, {
      notifications: {
        push: { hosts: [service.host] },
        webhook: { url: receiver.url, secret: 'a secret for webhooks' },
        // Nothing listens there: tests read the mail in the outbox.
        email: { url: 'smtp://127.0.0.1:9', from: 'hub@example.net' },
      },
    })
    hub.clock.freeze()
    api = createTestApi(hub)
    admin = await hub.signIn('admin')
    // One rule is enough.
    await hub.db.deleteFrom('alert_rules').where('id', '!=', 'every-alert').execute()
  })
  afterEach(async () => {
    await hub.stop()
    receiver.stop()
  })

  const change = async (fields: object) => {
    const [rule] = (await api(contract.listAlertRules, { token: admin })).body as AlertRule[]
    const saved = await api(contract.editAlertRule, { token: admin, params: { id: rule!.id }, body: fields })
    expect(saved.status).toBe(200)
  }
  const person = async (role: Role) => {
    const token = await hub.signIn(role)
    const { id } = await hub.db
      .updateTable('users')
      .set({ email: `${role}@example.net` })
      .where('username', '=', `the-${role}`)
      .returning('id')
      .executeTakeFirstOrThrow()
    return { token, id }
  }
  const subscribe = async (token: string) => {
    const { publicKey } = (await api(contract.readPush, { token })).body as ResponseOf<typeof contract.readPush>
    const browser = await service.addBrowser(publicKey)
    await api(contract.subscribePush, { token, body: browser.subscription })
    return browser
  }
  const seen = (id: string, fields: Partial<PicturedDetection> = {}) => testDetection(hub, id, fields)
  const report = (gateway: string, ...detections: PicturedDetection[]) =>
    storeDetections(hub.db, gateway, detections, hub.clock.now())
  const pass = async (minutes: number) => {
    hub.clock.advance(minutes * MINUTE_MS)
    await hub.alertSteps.look()
    await hub.notifications.deliver()
  }
  const mails = async () => {
    const rows = hub.db.selectFrom('notifications').select('content').where('channel', '=', 'person').orderBy('id')
    return (await rows.execute()).map(({ content }) => JSON.parse(content) as Mail)
  }
  const quietFor = (minutes: number) => {
    const timeOf = (ms: number) => new Date(ms).toISOString().slice(11, 16)
    return { from: timeOf(hub.clock.now() - MINUTE_MS), to: timeOf(hub.clock.now() + minutes * MINUTE_MS) }
  }
  const prefer = (token: string, body: object) => api(contract.editAlertPreferences, { token, body })
  const giveTo = (gateway: string, userId: string | null) =>
    hub.db.updateTable('gateways').set(ownedBy(userId)).where('id', '=', gateway).execute()

  it('tell people by mail only what they may see, also of a message about several gateways', async () => {
    const [owner, manager] = [await person('user'), await person('manager')]
    const barn = await insertTestGateway(hub.db, { name: 'Barn', ...ownedBy(owner.id) })
    const mill = await insertTestGateway(hub.db, { name: 'Mill' })
    await change({
      people: [owner.id, manager.id],
      collectSeconds: 60,
      steps: [{ afterMinutes: 10, channels: [], people: [owner.id] }],
    })
    await report(mill, seen('m', { label: 'wolf', jpeg: JPEG }))
    expect((await mails()).map(({ to }) => to)).toEqual(['manager@example.net'])
    await report(barn, seen('b'))
    await pass(2)
    const [ofManager, ofOwner] = (await mails()) as [Mail, Mail]
    expect(ofManager).toMatchObject({ title: expect.stringMatching(/^2 threats, the first: wolf at Mill/) })
    expect(ofOwner).toMatchObject({ to: 'user@example.net', title: expect.stringMatching(/^boar at Barn/) })
    expect(JSON.stringify(ofOwner)).not.toMatch(new RegExp(`Mill|wolf|${mill}`))
    await pass(10)
    expect((await mails()).map(({ title }) => title)[2]).toMatch(/^Not acknowledged: boar at Barn/)
    expect(JSON.stringify((await mails())[2])).not.toMatch(new RegExp(`Mill|wolf|${mill}`))

    // The mail of a server that was away is sent after the gateway has another owner.
    await giveTo(barn, null)
    await pass(60)
    expect((await mails()).map(({ to }) => to)).toEqual(['manager@example.net'])
  })

  it('that wait for the end of quiet hours are for people who may see them then, in their language then', async () => {
    const owner = await person('user')
    const barn = await insertTestGateway(hub.db, { name: 'Barn', ...ownedBy(owner.id) })
    const mill = await insertTestGateway(hub.db, { name: 'Mill', ...ownedBy(owner.id) })
    const browser = await subscribe(owner.token)
    await prefer(owner.token, { language: 'en', quietHours: quietFor(30), timeZone: 'UTC' })
    await report(barn, seen('b'))
    await report(mill, seen('m', { label: 'wolf' }))
    await pass(1)
    await prefer(owner.token, { language: 'de', quietHours: null, timeZone: 'UTC' })
    await giveTo(mill, null)
    await pass(31)
    expect(browser.shown.map(({ payload }) => payload)).toMatchObject([
      { title: expect.stringMatching(/^Wildschwein bei Barn/), words: { acknowledge: 'Bestätigen', open: 'Öffnen' } },
    ])
    expect(browser.shown[0]!.payload['text']).not.toMatch(/Mill|wolf/)

    await prefer(owner.token, { language: 'en', quietHours: quietFor(30), timeZone: 'UTC' })
    await report(barn, seen('c', { label: 'deer' }))
    await pass(10)
    await giveTo(barn, null)
    await pass(31)
    expect(browser.shown).toHaveLength(1)
  })

  it('about a gateway that waits for approval are not sent once it does not wait any more', async () => {
    const { token, id } = await person('manager')
    const steps = [{ afterMinutes: 20, channels: [], people: [] }]
    await change({ what: ['approval'], collectSeconds: 60, steps, people: [id] })
    const browser = await subscribe(token)
    await prefer(token, { language: 'en', quietHours: quietFor(30), timeZone: 'UTC' })
    const ask = async (name: string) => {
      const asked = await createTestDevice(hub.app, { name, now: hub.clock.now }).register()
      return asked.body.registrationId
    }
    const told = () =>
      receiver.received
        .map(({ body }) => JSON.parse(body) as { event: string; title: string; acknowledge?: object })
        .filter(({ acknowledge }) => acknowledge !== undefined)
        .map(({ title }) => title)
    const approve = (registrationId: string) =>
      api(contract.approveRegistration, { token: admin, params: { registrationId }, body: {} })

    const [shed, barn] = [await ask('Shed'), await ask('Barn')]
    expect((await approve(shed)).status).toBe(200)
    await pass(2)
    expect(told()).toEqual(['New gateway "Barn" waits for approval'])
    expect((await mails()).map(({ title }) => title)).toEqual(['New gateway "Barn" waits for approval'])
    expect((await approve(barn)).status).toBe(200)
    await pass(40)
    expect(told(), 'the step has nothing to tell').toHaveLength(1)
    expect(browser.shown).toEqual([])
    expect(await mails()).toEqual([])

    const cleared = async () =>
      ((await api(contract.listAlerts, { token: admin, query: {} })).body as Alert[]).map(({ clearedAt }) => clearedAt)
    expect(await cleared(), 'no request of it waits').toEqual([expect.any(String)])
    const oak = await ask('Oak')
    expect((await cleared())[0]).toBeNull()
    await approve(oak)
    await pass(20)
    expect(told()).toHaveLength(1)
  })

  it('are in one language from the title to the link, also for the channels that people share', async () => {
    const { token, id } = await person('manager')
    await prefer(token, { language: 'de', quietHours: null, timeZone: 'UTC' })
    await change({ what: ['approval', 'disk'], collectSeconds: 0, language: 'de', people: [id] })
    await createTestDevice(hub.app, { name: 'Shed', now: hub.clock.now }).register()
    await pass(1)
    const [mail] = await mails()
    expect(mail!.text).toBe('Neues Gateway „Shed“ wartet auf Freigabe: von 198.51.100.7\nRegel: Every alert')
    const posted = receiver.received.map(
      ({ body }) => JSON.parse(body) as { text: string; acknowledge?: { token: string } },
    )
    const shared = posted.find(({ acknowledge }) => acknowledge !== undefined)!
    expect(shared.text).toBe(mail!.text)
    const linked = await api(contract.readAlertLink, { body: { token: shared.acknowledge!.token } })
    expect(linked).toMatchObject({
      body: {
        language: 'de',
        title: 'Neues Gateway „Shed“ wartet auf Freigabe',
        lines: [expect.stringMatching(/: von /)],
      },
    })
    const inPortal = [
      ((await api(contract.listNotices, { token })).body as ResponseOf<typeof contract.listNotices>).notices,
      (await api(contract.listAlerts, { token, query: {} })).body,
    ]
    for (const list of inPortal) expect(list).toMatchObject([{ title: 'Neues Gateway „Shed“ wartet auf Freigabe' }])
    expect((await api(contract.listAlerts, { token: admin, query: {} })).body).toMatchObject([
      { title: 'New gateway "Shed" waits for approval' },
    ])
  })

  it('have the time of their reader, and the hub’s language where neither rule nor reader has one', async () => {
    const [berlin, nobody] = [await person('manager'), await person('admin')]
    await prefer(berlin.token, { language: 'en', timeZone: 'Europe/Berlin' })
    await api(contract.editHubSettings, { token: admin, body: { language: 'de' } })
    await change({ collectSeconds: 0, people: [berlin.id, nobody.id] })
    const barn = await insertTestGateway(hub.db, { name: 'Barn' })
    await report(barn, seen('b', { startedAt: '2026-07-01T22:14:00.000Z' }))
    await pass(1)
    const sent = Object.fromEntries((await mails()).map(({ to, title }) => [to, title]))
    expect(sent['manager@example.net']).toBe('boar at Barn, orchard, 00:14 CEST')
    const own = new Intl.DateTimeFormat('de', { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
    const byTheHub = `Wildschwein bei Barn, orchard, ${own.format(new Date('2026-07-01T22:14:00.000Z'))}`
    expect(sent['admin@example.net']).toBe(byTheHub)
    const posted = receiver.received.map(({ body }) => contract.webhookMessage.parse(JSON.parse(body)))
    expect(posted).toMatchObject([{ title: byTheHub, text: `${byTheHub}\nRegel: Every alert` }])
    await change({ language: 'en', coolDownSeconds: 0 })
    await report(barn, seen('c', { label: 'Braunbär', startedAt: '2026-07-01T22:20:00.000Z' }))
    await pass(1)
    expect(JSON.parse(receiver.received.at(-1)!.body)).toMatchObject({
      title: expect.stringMatching(/^Braunbär at Barn/),
    })
  })
})
