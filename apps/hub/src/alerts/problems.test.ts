import { listAlertGateways, listAlerts, type Alert, type Heartbeat } from '@hedgerow/contract'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { HUB, record } from '../facts/facts.ts'
import type { FleetStatus } from '../fleet/fleet.ts'
import { createProblems, type Problems } from './problems.ts'

const MINUTE_MS = 60_000

describe.each(testEngines)('outages on %s', (engine) => {
  let hub: TestHub
  let server: ReturnType<typeof createServer>
  let received: { event: string; title: string; text: string }[]
  let fleet: FleetStatus[]
  let cameras: Record<string, Heartbeat['cameras']>
  let problems: Problems
  beforeEach(async () => {
    received = []
    server = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(JSON.parse(body) as (typeof received)[number])
        response.writeHead(204).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    hub = await startTestHub(engine, {
      notifications: {
        webhook: { url, secret: 'a secret for webhooks' },
        // Nothing listens there: a test reads the mail in the outbox.
        email: { url: 'smtp://127.0.0.1:9', from: 'hub@example.net' },
      },
    })
    // Its own fleet is empty: outages that a test makes up would end.
    await hub.problems.stop()
    hub.clock.freeze()
    fleet = []
    cameras = {}
  })
  afterEach(async () => {
    await hub.stop()
    server.close()
  })

  const add = async (name: string, place = '') => {
    const id = await insertTestGateway(hub.db, { name, location: place })
    const gateway: FleetStatus = {
      id,
      name,
      siteId: null,
      place,
      tags: [],
      publicKey: '',
      queue: undefined,
      isOnlyCameras: false,
      problems: [],
      status: 'online',
      reason: 'no heartbeat for 9 min',
      reasonIn(language) {
        return language === 'de' ? 'seit 9 min kein Lebenszeichen' : this.reason
      },
      lastSeenAt: hub.clock.now(),
    }
    fleet.push(gateway)
    return gateway
  }
  /** Creates it as a start of the hub does. */
  const start = () => {
    problems = createProblems({
      db: hub.db,
      clock: hub.clock.now,
      log: pino({ level: 'silent' }),
      notifications: hub.notifications,
      statuses: async () => fleet,
      camerasOf: (id) => cameras[id] ?? [],
    })
  }
  const pass = async (minutes: number) => {
    await problems.look()
    hub.clock.advance(minutes * MINUTE_MS)
    await problems.look()
    hub.clock.advance(11_000)
    await hub.alertSteps.look()
    await hub.notifications.deliver()
  }
  const change = async (fields: object) => {
    const rules = hub.db.selectFrom('alert_rules').select(['id', 'fields'])
    for (const rule of await rules.execute())
      await hub.db
        .updateTable('alert_rules')
        .set({ fields: JSON.stringify({ ...(JSON.parse(rule.fields) as object), ...fields }) })
        .where('id', '=', rule.id)
        .execute()
  }
  const titles = () => received.map(({ title }) => title)

  it('are no news in maintenance, and those that outlast it are told after it', async () => {
    const [barn, mill] = [await add('Barn'), await add('Mill')]
    start()
    await pass(0)
    Object.assign(barn, { isInMaintenance: true, status: 'offline' })
    Object.assign(mill, { isInMaintenance: true, status: 'offline' })
    cameras[mill.id] = [{ name: 'gate', state: 'offline', fps: 0 }]
    await pass(0)
    await pass(60)
    barn.status = 'online'
    await pass(60)
    expect(titles()).toEqual([])
    mill.isInMaintenance = false
    await pass(0)
    expect(titles()).toEqual(['Gateway "Mill" is offline'])
    mill.status = 'online'
    cameras[mill.id] = []
    await pass(1)
    expect(titles().slice(1)).toEqual([expect.stringContaining('Gateway "Mill"')])
  })

  it('are told after the hold-off in one message, and once when all are over, also after restarts', async () => {
    const [barn, mill] = [await add('Barn'), await add('Mill')]
    start()
    await pass(0)
    barn.status = 'offline'
    await pass(0)
    await pass(3)
    barn.status = 'online'
    await pass(5)
    expect(titles(), 'a reboot is no news, nor its end').toEqual([])

    barn.status = 'offline'
    mill.status = 'offline'
    await pass(0)
    start()
    mill.reason = 'no heartbeat for 14 min'
    await pass(5)
    expect(received, 'with the reason of now').toMatchObject([
      {
        event: 'gateway.quiet',
        title: expect.stringMatching(/^2 gateways are offline, the first: Gateway "(Barn|Mill)" is offline$/),
        text: expect.stringContaining('Gateway "Mill" is offline: no heartbeat for 14 min'),
      },
    ])
    await pass(100)
    barn.status = 'online'
    await pass(0)
    expect(received).toHaveLength(1)
    // It comes back while the hub is off.
    mill.status = 'online'
    start()
    await pass(0)
    expect(received[1]).toMatchObject({ event: 'gateway.back', title: '2 gateways are no longer offline' })
    expect(
      received.map((message) => 'acknowledge' in message),
      'nothing is left to acknowledge',
    ).toEqual([true, false])
    const token = await hub.signIn('admin')
    const [alert] = (await createTestApi(hub)(listAlerts, { token, query: {} })).body as Alert[]
    expect(alert).toMatchObject({ kind: 'gateway-quiet', clearedAt: expect.any(String) })
    await pass(100)
    expect(received).toHaveLength(2)
  })

  it('of a whole site is one message, also when its gateways go offline one after the other', async () => {
    const mill = [await add('Mill east', 'Mill'), await add('Mill west', 'Mill'), await add('Mill weir', 'Mill')]
    const ford = await add('Ford', 'Ford')
    start()
    await pass(0)
    mill[0]!.status = 'offline'
    mill[1]!.status = 'offline'
    await pass(0)
    await pass(5)
    expect(titles()).toEqual(['Mill: 2 gateways are offline'])
    mill[2]!.status = 'offline'
    await pass(0)
    await pass(6)
    await pass(10)
    expect(titles(), 'the third one is part of it').toHaveLength(1)
    const token = await hub.signIn('admin')
    const [alert] = (await createTestApi(hub)(listAlerts, { token, query: {} })).body as Alert[]
    expect(alert).toMatchObject({ title: 'Mill: 3 gateways are offline', path: `/gateways?alert=${alert!.id}` })
    const about = await createTestApi(hub)(listAlertGateways, { token, params: { id: alert!.id } })
    expect((about.body as string[]).toSorted()).toEqual(mill.map(({ id }) => id).toSorted())
    const stranger = await createTestApi(hub)(listAlertGateways, {
      token: await hub.signIn('user'),
      params: { id: alert!.id },
    })
    expect(stranger.body).toMatchObject({ error: 'alert_not_found' })
    // Another site has a message of its own, and so has the same one after a while.
    ford.status = 'offline'
    await pass(0)
    await pass(20)
    expect(titles()[1]).toBe('Gateway "Ford" is offline')
    mill[0]!.status = 'online'
    await pass(0)
    expect(titles()).toHaveLength(2)
    mill[1]!.status = 'online'
    mill[2]!.status = 'online'
    await pass(0)
    expect(titles()[2]).toBe('3 gateways are no longer offline')
  })

  it('remind once a day of a gateway that somebody disarmed without an end', async () => {
    const barn = await add('Barn')
    start()
    await hub.db.deleteFrom('alert_rules').where('id', '=', 'every-alert').execute()
    barn.disarmed = { by: 'rosa', at: hub.clock.now(), until: null }
    await pass(0)
    await pass(60 * 23)
    expect(titles()).toEqual([])
    await pass(61)
    await pass(10)
    await pass(60)
    expect(received).toMatchObject([
      { text: expect.stringContaining('disarmed by rosa for 1 day: nothing fires until somebody arms it') },
    ])
    await pass(24 * 60)
    await pass(10)
    expect(received.slice(1)).toMatchObject([{ text: expect.stringContaining('for 2 days') }])
    barn.disarmed = { ...barn.disarmed, until: hub.clock.now() + 10 * 86_400_000 }
    await pass(48 * 60)
    await pass(10)
    expect(received).toHaveLength(2)
  })

  it('that are over before their message is sent are no news, neither alone nor beside others', async () => {
    const [barn, mill, oak] = [await add('Barn'), await add('Mill'), await add('Oak')]
    start()
    await pass(0)
    barn.status = 'offline'
    await pass(0)
    await pass(5)
    expect(titles()).toEqual(['Gateway "Barn" is offline'])
    // The next message waits for the rule's cool-down of five minutes.
    mill.status = 'offline'
    await change({ holdOffMinutes: 1, coolDownSeconds: 300 })
    await pass(0)
    await pass(2)
    mill.status = 'online'
    await pass(0)
    await pass(10)
    expect(titles(), 'neither the outage nor its end').toHaveLength(1)

    barn.status = 'online'
    await pass(0)
    expect(titles().slice(1)).toEqual(['Gateway "Barn" is no longer offline'])
    // Another one that is over before its message: it starts no cool-down.
    mill.status = 'offline'
    await pass(0)
    hub.clock.advance(MINUTE_MS)
    await problems.look()
    mill.status = 'online'
    await problems.look()
    for (const gateway of [mill, oak]) gateway.status = 'offline'
    await pass(0)
    hub.clock.advance(MINUTE_MS)
    await problems.look()
    mill.status = 'online'
    await pass(0)
    expect(titles().slice(2), 'the message is about the one that is left').toEqual(['Gateway "Oak" is offline'])
    oak.status = 'online'
    await pass(0)
    expect(titles().slice(3)).toEqual(['Gateway "Oak" is no longer offline'])
  })

  it('end with one all-clear for everybody who got a message, also of a step, in their own language', async () => {
    const people = []
    for (const name of ['first', 'second', 'never']) {
      const id = await hub.addUser(name, 'manager', 'four foxes in fog')
      const email = `${name}@example.net`
      await hub.db.updateTable('users').set({ email }).where('id', '=', id).execute()
      people.push(id)
    }
    const [first, second, never] = people as [string, string, string]
    await hub.db
      .insertInto('alert_preferences')
      .values({
        user_id: second,
        preferences: JSON.stringify({ language: 'de', quietHours: null, timeZone: 'UTC' }),
      })
      .execute()
    const steps = [second, never].map((id) => ({ afterMinutes: 30, channels: ['email'], people: [id] }))
    await change({ people: [first], steps })
    const barn = await add('Barn')
    start()
    await pass(0)
    barn.status = 'offline'
    await pass(0)
    await pass(5)
    await pass(31)
    barn.status = 'online'
    await pass(0)
    const rows = hub.db.selectFrom('notifications').select(['channel', 'content']).orderBy('id')
    const sent = (await rows.execute()).map((row) => ({
      channel: row.channel,
      ...(JSON.parse(row.content) as { to?: string; title: string; text: string }),
    }))
    expect(sent.map(({ channel, to = '', title }) => `${channel} ${to}: ${title}`.trim()).toSorted()).toEqual([
      'person first@example.net: Gateway "Barn" is no longer offline',
      'person first@example.net: Gateway "Barn" is offline',
      'person second@example.net: Gateway „Barn“ ist nicht mehr offline',
      'person second@example.net: Nicht bestätigt: Gateway „Barn“ ist offline',
      'webhook : Gateway "Barn" is no longer offline',
      'webhook : Gateway "Barn" is offline',
    ])
    const step = sent.find(({ title }) => title.startsWith('Nicht bestätigt'))!
    expect(step.text, 'the reason too').toContain('seit 9 min kein Lebenszeichen')
  })

  it('end without a message when the gateway is deleted, or its camera taken out', async () => {
    const [barn, mill] = [await add('Barn'), await add('Mill')]
    start()
    const remove = async ({ id }: FleetStatus) => {
      await hub.db.deleteFrom('gateways').where('id', '=', id).execute()
      fleet = fleet.filter((gateway) => gateway.id !== id)
    }
    cameras[mill.id] = [{ name: 'gate', fps: 0, state: 'offline' }]
    await pass(0)
    barn.status = 'offline'
    await pass(0)
    await pass(5)
    expect(titles().toSorted()).toEqual(['Camera "gate" of "Mill" gives no picture', 'Gateway "Barn" is offline'])
    cameras[mill.id] = []
    await remove(barn)
    await pass(1)
    const token = await hub.signIn('admin')
    const alerts = (await createTestApi(hub)(listAlerts, { token, query: {} })).body as Alert[]
    expect(alerts.map(({ clearedAt }) => clearedAt)).toEqual([expect.any(String), expect.any(String)])

    const oak = await add('Oak')
    await pass(0)
    Object.assign(mill, { status: 'offline' })
    Object.assign(oak, { status: 'offline' })
    await pass(0)
    await pass(5)
    mill.status = 'online'
    await remove(oak)
    await pass(1)
    expect(titles().slice(2), 'one of two came back').toEqual([
      expect.stringMatching(/^2 gateways are offline/),
      '2 gateways are no longer offline',
    ])
  })

  it.each([
    ['covered', 'is covered'],
    ['turned', 'was turned'],
    ['unfocused', 'is out of focus'],
  ] as const)('of a camera that is %s are told, and their end', async (state, words) => {
    const barn = await add('Barn')
    start()
    cameras[barn.id] = [{ name: 'gate', fps: 5, state }]
    Object.assign(barn, { status: 'warning', isOnlyCameras: true })
    await pass(5)
    cameras[barn.id] = [{ name: 'gate', fps: 5, state: 'online' }]
    barn.status = 'online'
    await pass(1)
    expect(titles()).toEqual([`Camera "gate" of "Barn" ${words}`, 'Camera "gate" of "Barn" gives new pictures again'])
  })

  it('of cameras, warnings and deterrents are told; one warning a day, nothing twice', async () => {
    const barn = await add('Barn')
    start()
    const gate = { name: 'gate', fps: 0 }
    cameras[barn.id] = [{ ...gate, state: 'offline' }]
    Object.assign(barn, { status: 'warning', isOnlyCameras: true })
    await pass(5)
    expect(titles()).toEqual(['Camera "gate" of "Barn" gives no picture'])
    // The camera's state is unknown while the gateway is offline.
    barn.status = 'offline'
    cameras[barn.id] = [{ ...gate, state: 'online' }]
    await pass(1)
    barn.status = 'online'
    await pass(1)
    expect(titles().slice(1)).toEqual(['Camera "gate" of "Barn" gives new pictures again'])

    cameras[barn.id] = [{ ...gate, state: 'frozen' }]
    Object.assign(barn, { status: 'warning', isOnlyCameras: true })
    await pass(5)
    cameras[barn.id] = [{ ...gate, state: 'online' }]
    barn.status = 'online'
    await pass(1)
    expect(titles().slice(2)).toEqual([
      'Camera "gate" of "Barn" always sends the same picture',
      'Camera "gate" of "Barn" gives new pictures again',
    ])

    for (const _day of ['first', 'second time on one day']) {
      Object.assign(barn, { status: 'warning', isOnlyCameras: false, reason: 'disk 95 % full' })
      await pass(5)
      barn.status = 'online'
      await pass(0)
    }
    expect(titles().slice(4)).toEqual(['Gateway "Barn" has a warning'])

    const about = { at: hub.clock.now(), actor: HUB, gatewayId: barn.id }
    const failed = { gatewayName: 'Barn', by: 'rule', deterrent: 'siren', detectionId: null, message: 'no answer' }
    for (const _twice of [1, 2]) await record(hub.db, { ...about, kind: 'deterrent.failed', data: failed })
    await pass(1)
    expect(received.slice(5).map(({ event, title }) => `${event} ${title}`)).toEqual([
      'deterrent.failed Deterrent "siren" of "Barn" failed',
    ])
  })
})
