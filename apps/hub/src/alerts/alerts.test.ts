import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import * as contract from '@hedgerow/contract'
import type { AlertRule } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { storeDetections, type PicturedDetection } from '../detections/detections.ts'

type Posted = {
  event: string
  title: string
  text: string
  url: string
  picture?: string
  data: Record<string, string>
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
      notifications: { webhook: { url: receiver.url, secret: 'a secret for webhooks' } },
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
    const { id: _id, last: _last, ...known } = (await rules()).find((rule) => rule.id === id)!
    const saved = await api(contract.updateAlertRule, { token, params: { id }, body: { ...known, ...fields } })
    expect(saved.status).toBe(200)
  }
  const seen = (id: string, fields: Partial<PicturedDetection> = {}): PicturedDetection => ({
    id,
    camera: 'orchard',
    label: 'boar',
    severity: 'alert',
    score: 0.9,
    startedAt: new Date(hub.clock.now()).toISOString(),
    ...fields,
  })
  const report = (...detections: PicturedDetection[]) => storeDetections(hub.db, gateway, detections, hub.clock.now())
  const told = (count: number) => vi.waitFor(() => expect(receiver.received).toHaveLength(count), { timeout: 30_000 })
  const wait = async (seconds: number) => {
    hub.clock.advance(seconds * 1_000)
    await hub.notifications.deliver()
  }

  it('tell of an intruder at once, with the picture and a link that opens it, and of each once', async () => {
    await report(seen('a', { jpeg: Buffer.from(JPEG, 'base64') }))
    await told(1)
    const [message] = receiver.received
    const [incident] = (await api(contract.listIncidents, { token, query: {} })).body as { id: string }[]
    expect(message).toMatchObject({
      event: 'incident.alert',
      title: expect.stringMatching(/^boar at Barn, orchard, \d\d:\d\d UTC$/),
      url: expect.stringMatching(new RegExp(`/threats\\?incident=${incident!.id}$`)),
      picture: JPEG,
      data: { rule: 'Every alert', incidents: '1' },
    })
    await report(seen('a', { score: 0.95 }), seen('b'))
    await wait(1_000)
    expect(receiver.received).toHaveLength(1)
  })

  it('are one message that grows during a storm, then one after the cool-down', async () => {
    const labels = Array.from({ length: 300 }, (_, i) => `animal ${i}`)
    await report(seen('first'))
    await told(1)
    for (let i = 0; i < labels.length; i += 50)
      await report(...labels.slice(i, i + 50).map((label) => seen(label, { label })))
    await wait(10)
    expect(receiver.received).toHaveLength(1)
    await wait(300)
    await told(2)
    expect(receiver.received[1]).toMatchObject({
      title: expect.stringMatching(/^300 threats, the first: animal 0 at Barn/),
      text: expect.stringContaining('and 290 more'),
    })
    await wait(1_000)
    expect(receiver.received).toHaveLength(2)
    expect((await rules())[0]).toMatchObject({ last: { incidents: 300 } })
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

  it('tell what a rule asks for and nothing else, each rule for itself', async () => {
    await change('every-alert', { sites: ['Hill'] })
    const body = { name: 'Foxes', severity: 'any', labels: ['fox'], collectSeconds: 0, coolDownSeconds: 0 }
    expect((await api(contract.addAlertRule, { token, body })).status).toBe(200)
    await report(seen('a'), seen('b', { label: 'fox', severity: 'detection' }))
    await told(1)
    await wait(100)
    expect(receiver.received.map(({ data }) => data['rule'])).toEqual(['Foxes'])
  })

  it('end with their rule, and with the switch for all notifications; that of approvals leaves them', async () => {
    await change('every-alert', { collectSeconds: 30 })
    await api(contract.saveAutoApprovalSettings, { token, body: { notificationEnabled: false } })
    await report(seen('a'))
    await wait(30)
    await told(1)
    await api(contract.saveHubSettings, { token, body: { enableNotifications: false } })
    await report(seen('b', { label: 'fox' }))
    await wait(1_000)
    await api(contract.saveHubSettings, { token, body: { enableNotifications: true } })
    expect((await api(contract.deleteAlertRule, { token, params: { id: 'every-alert' } })).status).toBe(204)
    await report(seen('c', { label: 'deer' }))
    await wait(1_000)
    expect(receiver.received).toHaveLength(1)
  })

  it('say before what a rule would have told of in seven days', async () => {
    const day = 86_400_000
    for (const [i, ago] of [8 * day, 2 * day, 2 * day - 200_000, 2 * day - 260_000, day].entries())
      await report(seen(`d${i}`, { startedAt: new Date(hub.clock.now() - ago).toISOString() }))
    const preview = async (body: object) =>
      (await api(contract.previewAlertRule, { token, body: { name: 'New', ...body } })).body
    expect(await preview({ coolDownSeconds: 300 })).toMatchObject({
      incidents: 4,
      messages: 3,
      isWhole: true,
      newest: [{ gatewayName: 'Barn' }, {}, {}, {}],
    })
    expect(await preview({ coolDownSeconds: 0, collectSeconds: 0 })).toMatchObject({ incidents: 4, messages: 4 })
    expect(await preview({ labels: ['fox'] })).toMatchObject({ incidents: 0, messages: 0, newest: [] })
  })

  it('are kept by admins, seen by managers, with errors that name the field', async () => {
    const [manager, user] = [await hub.signIn('manager'), await hub.signIn('user')]
    expect(await api(contract.listAlertRules, { token: manager })).toMatchObject({ status: 200 })
    expect(await api(contract.listAlertRules, { token: user })).toMatchObject({ status: 403 })
    expect(await api(contract.addAlertRule, { token: manager, body: { name: 'x' } })).toMatchObject({ status: 403 })
    expect(
      await api(contract.addAlertRule, { token, body: { name: '', hours: { from: '25:00', to: '1' } } }),
    ).toMatchObject({
      status: 400,
      body: { fieldErrors: { name: 'Enter a name', 'hours.from': expect.any(String) } },
    })
    const gone = { token, params: { id: 'nothing' } }
    expect(await api(contract.deleteAlertRule, gone)).toMatchObject({ status: 404 })
    for (let i = 0; i < 99; i++) await api(contract.addAlertRule, { token, body: { name: `Rule ${i}` } })
    const full = await api(contract.addAlertRule, { token, body: { name: 'One more' } })
    expect(full).toMatchObject({ status: 409, body: { error: 'too_many_alert_rules' } })
  })
})
