import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as contract from '@hedgerow/contract'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabase, testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { ownedBy } from '../access/ownership.ts'
import type { Caller } from '../access/sessions.ts'
import { auditAnswers } from '@hedgerow/contract/audit-answers'
import { liveTopics } from './live-events.ts'
import { COALESCE_MS, createEvents } from './events.ts'

const insertGateway = async (hub: TestHub, id: string, ownerId: string | null) => {
  await hub.db
    .insertInto('gateways')
    .values({
      id,
      kind: 'enrolled',
      name: id,
      name_key: id,
      location: '',
      description: '',
      device_token: `DT-${id}`,
      ...ownedBy(ownerId),
      wireguard_public_key: id,
      preshared_key: '',
      address: id,
      created_at: 0,
    })
    .execute()
}

describe.each(testEngines)('live events on %s', (engine) => {
  let hub: TestHub
  let url: string
  const readers: AbortController[] = []
  beforeAll(async () => {
    hub = await startTestHub(engine, { gatewayUi: { ports: { first: 1, last: 1 }, origin: undefined } })
    url = `http://127.0.0.1:${(await hub.start()).port}`
  })
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.abort()
  })
  afterAll(() => hub.stop())

  /** Opens a stream; `text()` is all that was received so far, `ended` settles when the hub ends it. */
  async function listen(token: string) {
    const stop = new AbortController()
    readers.push(stop)
    const response = await fetch(`${url}/api/v1/hub/events`, {
      headers: { authorization: `Bearer ${token}` },
      signal: stop.signal,
    })
    let text = ''
    const read = async () => {
      const decoder = new TextDecoder()
      for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true })
    }
    return { response, text: () => text, topics: () => topicsIn(text), ended: read() }
  }
  const topicsIn = (text: string) =>
    [...text.matchAll(/^event: change\ndata: (.+)$/gm)].map(
      ([, data]) => contract.hubEvent.parse(JSON.parse(data!)).topic,
    )
  const until = async (check: () => boolean) => {
    for (let waitedMs = 0; !check() && waitedMs < 30_000; waitedMs += 20) await sleep(20)
    expect(check()).toBe(true)
  }
  const sessionOf = async (role: contract.Role, username: string) => {
    const userId = await hub.addUser(username, role, 'a password for events')
    const token = await hub.sessions.start({ id: userId }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    return { userId, token, caller: await hub.sessions.authenticate(token) }
  }

  test('a call that changed something is sent to listeners, with the headers of every answer', async () => {
    const token = await hub.signIn('manager')
    const manager = await listen(token)
    manager.ended.catch(() => {})
    expect(manager.response.headers.get('content-type')).toBe('text/event-stream')
    expect(manager.response.headers.get('cache-control')).toBe('no-store')
    expect(manager.response.headers.get('x-content-type-options')).toBe('nosniff')
    const added = await hub.app.inject({
      method: 'POST',
      url: '/api/v1/hub/gateways',
      headers: { authorization: `Bearer ${token}` },
      payload: { name: `Barn on ${engine}` },
    })
    expect(added.statusCode).toBe(200)
    await until(() => manager.topics().length >= 3)
    expect(manager.topics().toSorted()).toEqual(['activity', 'gateways', 'stats'])
  })

  test('a refused call and a read send nothing', async () => {
    const token = await hub.signIn('manager')
    await sleep(2 * COALESCE_MS)
    const manager = await listen(token)
    manager.ended.catch(() => {})
    const headers = { authorization: `Bearer ${token}` }
    await hub.app.inject({ method: 'POST', url: '/api/v1/hub/gateways', headers, payload: {} })
    await hub.app.inject({ url: '/api/v1/hub/gateways', headers })
    await sleep(2 * COALESCE_MS)
    expect(manager.topics()).toEqual([])
  })

  test('a user gets events of their own gateways, not of others, nor of users and invitations', async () => {
    const rosa = await sessionOf('user', 'rosa')
    const emil = await sessionOf('user', 'emil')
    await insertGateway(hub, 'rosasgateway', rosa.userId)
    const [hers, his, all] = await Promise.all(
      [rosa.token, emil.token, await hub.signIn('admin')].map((token) => listen(token)),
    )
    for (const { ended } of [hers!, his!, all!]) ended.catch(() => {})
    hub.events.publish({ topic: 'gateways', gatewayId: 'rosasgateway' }, { topic: 'users' }, { topic: 'invitations' })
    await until(() => hers!.topics().length === 1 && all!.topics().length === 3)
    await sleep(50)
    expect(his!.topics()).toEqual([])
    expect(hers!.topics()).toEqual(['gateways'])
  })

  test('a topic is sent at once, and then at most once in 250 ms', async () => {
    await sleep(2 * COALESCE_MS)
    const admin = await listen(await hub.signIn('admin'))
    admin.ended.catch(() => {})
    const startedAtMs = performance.now()
    for (let i = 0; i < 100; i++) {
      hub.events.publish({ topic: 'settings' })
      await sleep(5)
    }
    await sleep(2 * COALESCE_MS)
    const periods = Math.ceil((performance.now() - startedAtMs) / COALESCE_MS)
    await until(() => admin.topics().length > 1)
    expect(admin.topics().length).toBeLessThanOrEqual(periods + 1)
  })

  test('a session that ends, here or in another process, ends its stream', async () => {
    const here = await sessionOf('user', 'ended-here')
    const elsewhere = await sessionOf('user', 'ended-elsewhere')
    const [first, second] = [await listen(here.token), await listen(elsewhere.token)]
    await hub.sessions.end(here.caller.sessionId)
    await first.ended
    await hub.db.deleteFrom('sessions').where('id', '=', elsewhere.caller.sessionId).execute()
    await expect(second.ended).resolves.toBeUndefined()
  })

  test('one person has a limited number of streams, and gets a place back when one closes', async () => {
    const { token } = await sessionOf('user', 'many-tabs')
    const open = await Promise.all(Array.from({ length: contract.EVENT_STREAMS_PER_USER }, () => listen(token)))
    for (const { ended } of open) ended.catch(() => {})
    const refused = await listen(token)
    expect(refused.response.status).toBe(429)
    await refused.ended
    expect(JSON.parse(refused.text())).toMatchObject({ error: 'too_many_streams' })
    readers[0]!.abort()
    await until(() => hub.events.streams() < contract.EVENT_STREAMS_PER_USER)
    const again = await listen(token)
    again.ended.catch(() => {})
    expect(again.response.status).toBe(200)
  })

  test('without a session there are no events', async () => {
    expect((await fetch(`${url}/api/v1/hub/events`)).status).toBe(401)
  })
})

test('a client that does not read is dropped, and others continue', async () => {
  const { db, close } = await openTestDatabase('sqlite')
  const events = createEvents({
    db,
    sessions: { find: async () => undefined, onEnded: () => () => {} },
    log: pino({ level: 'silent' }),
  })
  const caller: Caller = { userId: 'u', username: 'u', role: 'admin', sessionId: 's' }
  let read = ''
  const reading = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      read += chunk.toString()
      done()
    },
  })
  const stuck = new Writable({ write: () => {} })
  events.open(caller, stuck)
  events.open(caller, reading)
  stuck.write('x'.repeat(20_000))
  events.publish({ topic: 'stats' })
  await sleep(0)
  expect(stuck.destroyed).toBe(true)
  expect(read).toContain('"stats"')
  expect(events.streams()).toBe(1)
  await events.stop()
  expect(reading.writableEnded).toBe(true)
  await close()
})

test('every fact names the pages that it makes stale, or changes nothing that a page shows', () => {
  const silent = [
    'call.refused',
    'device.used',
    'gateway.claim-refused',
    'gateway.vpn-config-read',
    'identity.refused',
    'incidents.exported',
    'password-reset.sent',
    'provider.linked',
    'provider.unlinked',
    'push.subscribed',
    'push.unsubscribed',
    'recovery-code.used',
    'recovery-codes.renewed',
    'session.ended',
    'session.refused',
    'session.started',
    'token.created',
    'token.revoked',
    'two-factor.guessed',
    'two-factor.set-up',
    'user.local-sign-in-allowed',
    'user.password-changed',
    'user.registration-refused',
  ]
  const kinds = Object.keys(liveTopics) as contract.FactKind[]
  expect(kinds.filter((kind) => liveTopics[kind].topics.length === 0).toSorted()).toEqual(silent)
  expect(kinds.toSorted()).toEqual(Object.keys(auditAnswers).toSorted())
})
