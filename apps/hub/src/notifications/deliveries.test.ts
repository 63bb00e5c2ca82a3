import { createHmac } from 'node:crypto'
import * as contract from '@hedgerow/contract'
import type { Delivery } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { createTestDevice } from '#testing/device.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { storeDetections } from '../detections/detections.ts'
import { createRetention } from '../retention/retention.ts'

const SECRET = 'a secret for webhooks'

describe.each(testEngines)('the log of deliveries on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
  beforeEach(async () => {
    receiver = await startWebhookReceiver()
    hub = await startTestHub(engine, { notifications: { webhook: { url: receiver.url, secret: SECRET } } })
    hub.clock.freeze()
    api = createTestApi(hub)
    token = await hub.signIn('admin')
  })
  afterEach(async () => {
    await hub.stop()
    receiver.stop()
  })

  const list = async (query: object = {}) => {
    const { body } = await api(contract.listDeliveries, { token, query })
    return body as Delivery[]
  }
  const refused = async (answer: Promise<{ body: unknown }>) => ((await answer).body as { error: string }).error
  const again = (id: string) => api(contract.sendDeliveryAgain, { token, params: { id } })
  const ask = async (name: string) => {
    await createTestDevice(hub.app, { now: hub.clock.now, name }).register()
    await hub.notifications.deliver()
  }

  it('has each message with its outcome, and none of its secrets', async () => {
    await ask('Barn')
    receiver.state.status = 503
    await ask('Shed')
    const [shed, barn] = await list()
    expect(barn).toMatchObject({
      channel: 'webhook',
      event: 'registration.pending',
      title: expect.stringContaining('"Barn"'),
      path: '/gateway-approvals',
      person: null,
      state: 'sent',
      attempts: 1,
      nextAttemptAt: null,
      error: null,
    })
    expect(shed).toMatchObject({
      state: 'waiting',
      attempts: 1,
      attemptedAt: new Date(hub.clock.now()).toISOString(),
      nextAttemptAt: new Date(hub.clock.now() + 30_000).toISOString(),
      error: 'The webhook answered 503.',
    })
    expect(await list({ state: 'waiting' })).toHaveLength(1)
    expect(await list({ channel: 'email' })).toEqual([])
    const rows = await hub.db.selectFrom('notifications').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(SECRET)
    const { body } = await api(contract.readNotificationChannels, { token })
    expect(body).toMatchObject({ last: { webhook: { error: 'The webhook answered 503.' } } })
  })

  it('sends a webhook again under the same id with a new signature, and records who asked', async () => {
    await ask('Barn')
    const [sent] = await list()
    hub.clock.advance(1_800_000)
    expect((await again(sent!.id)).body).toMatchObject({ id: sent!.id, state: 'waiting' })
    await hub.notifications.deliver()
    const [first, second] = receiver.received
    expect(second!.body).toBe(first!.body)
    const header = (name: string) => [first, second].map((one) => one!.headers[`x-hedgerow-${name}`])
    expect(new Set(header('delivery')).size).toBe(1)
    const [before, after] = header('timestamp').map(Number)
    expect(after! - before!).toBe(1_800)
    const signature = createHmac('sha256', SECRET).update(`${after}.${second!.body}`).digest('hex')
    expect(header('signature')[1]).toBe(`sha256=${signature}`)
    const [entry] = (await api(contract.listAudit, { token, query: { action: 'notification.send-again' } }))
      .body as contract.AuditEntry[]
    expect(entry).toMatchObject({ result: 'ok', target: `webhook: ${sent!.title}` })
  })

  it('sends again what was given up, with ten new tries', async () => {
    receiver.state.status = 410
    await ask('Barn')
    await hub.db.updateTable('notifications').set({ state: 'failed', attempts: 10 }).execute()
    const [failed] = await list({ state: 'failed' })
    receiver.state.status = 200
    await again(failed!.id)
    await hub.notifications.deliver()
    expect(await list()).toMatchObject([{ state: 'sent', attempts: 1, error: null }])
  })

  it('refuses messages that are gone, on their way, not due yet, or of a channel that is off', async () => {
    expect(await refused(again('999'))).toBe('delivery_not_found')
    expect(await refused(again('1e3'))).toBe('invalid_request')
    await ask('Barn')
    const [{ id } = { id: '' }] = await list()
    for (const state of ['sending', 'waiting'] as const) {
      await hub.db.updateTable('notifications').set({ state, attempts: 0 }).execute()
      expect(await refused(again(id))).toBe('delivery_under_way')
    }
    await hub.db.updateTable('notifications').set({ state: 'sent', channel: 'ntfy' }).execute()
    const off = await again(id)
    expect(off.body).toEqual({ error: 'channel_off', message: 'This channel is not set up.' })
    await hub.db.updateTable('notifications').set({ channel: 'webhook' }).execute()
    await api(contract.editHubSettings, { token, body: { enableNotifications: false } })
    expect(await refused(again(id))).toBe('channel_off')
  })

  it('is for managers, and only admins send again', async () => {
    await ask('Barn')
    const [{ id } = { id: '' }] = await list()
    const manager = await hub.signIn('manager')
    expect((await api(contract.listDeliveries, { token: manager, query: {} })).status).toBe(200)
    expect(await refused(api(contract.sendDeliveryAgain, { token: manager, params: { id } }))).toBe('role_required')
    const user = await hub.signIn('user')
    expect(await refused(api(contract.listDeliveries, { token: user, query: {} }))).toBe('role_required')
  })

  it('has the messages of an alert to a person, and no mail about somebody’s account', async () => {
    const rosa = await hub.addUser('rosa', 'user', 'gravel-lantern-42')
    const row = {
      channel: 'person',
      kind: 'two-factor.guessed',
      content: JSON.stringify({ title: 'Yours', text: '', data: {}, to: 'rosa@example.net', userId: rosa }),
      state: 'sent' as const,
      attempts: 1,
      created_at: 1,
      due_at: 1,
      error: null,
      attempted_at: 1,
    }
    await hub.db
      .insertInto('notifications')
      .values([
        { ...row, key: 'account', alert_id: null },
        { ...row, key: 'alert', alert_id: 'abc' },
      ])
      .execute()
    expect(await list()).toMatchObject([{ channel: 'person', person: 'rosa' }])
    const { id } = await hub.db
      .selectFrom('notifications')
      .select('id')
      .where('key', '=', 'account')
      .executeTakeFirstOrThrow()
    expect(await refused(again(String(id)))).toBe('delivery_not_found')
  })

  it('has pages', async () => {
    for (const name of ['One', 'Two', 'Three']) await ask(name)
    const { body, headers } = await api(contract.listDeliveries, { token, query: { limit: 2 } })
    const cursor = String(headers['x-next-cursor'])
    const rest = await list({ limit: 2, cursor })
    expect([...(body as Delivery[]), ...rest].map(({ title }) => /"(\w+)"/.exec(title)?.[1])).toEqual([
      'Three',
      'Two',
      'One',
    ])
  })

  it('keeps the newest messages and the waiting ones', async () => {
    for (const name of ['One', 'Two', 'Three', 'Four']) await ask(name)
    const ids = (await list()).map(({ id }) => Number(id)).toReversed()
    await hub.db.updateTable('notifications').set({ state: 'waiting' }).where('id', '=', ids[0]!).execute()
    const log = pino({ level: 'silent' })
    const retention = createRetention({ db: hub.db, clock: hub.clock.now, log, deliveriesKept: 2 })
    await retention.purge()
    await retention.stop()
    expect((await list()).map(({ id }) => Number(id)).toReversed()).toEqual([ids[0], ids[2], ids[3]])
  })

  it('sends new messages over every channel while one of them fails', async () => {
    const other = await startWebhookReceiver()
    await hub.stop()
    const notifications = { webhook: { url: receiver.url, secret: SECRET }, ntfy: { url: other.url, token: undefined } }
    hub = await startTestHub(engine, { notifications })
    hub.clock.freeze()
    const gateway = await insertTestGateway(hub.db, { name: 'Barn' })
    other.state.status = 503
    const see = async (label: string) => {
      const seen = { id: label, camera: 'orchard', label, severity: 'alert' as const, score: 0.9 }
      const startedAt = new Date(hub.clock.now()).toISOString()
      await storeDetections(hub.db, gateway, [{ ...seen, startedAt }], hub.clock.now())
      hub.clock.advance(600_000)
      await hub.notifications.deliver()
    }
    await see('boar')
    await see('deer')
    const titles = receiver.received.map(({ body }) => (JSON.parse(body) as { title: string }).title)
    expect(titles).toEqual([expect.stringContaining('boar'), expect.stringContaining('deer')])
    other.stop()
  })
})
