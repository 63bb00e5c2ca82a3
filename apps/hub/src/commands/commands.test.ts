import type { Command } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { answerJson, serveDoor, type TestDoor } from '#testing/door.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import type { TestPeer } from '#testing/peer.ts'
import { ownedBy } from '../access/ownership.ts'
import { openFacts } from '../facts/facts.ts'
import { createGatewayDoor } from '../gateway-door/gateway-door.ts'
import { createCommands } from './commands.ts'

describe.each(testEngines)('commands to a gateway on %s', (engine) => {
  let hub: TestHub
  let gatewayId: string
  let peer: TestPeer
  let door: TestDoor

  beforeEach(async () => {
    hub = await startTestHub(engine)
    const admin = { authorization: `Bearer ${await hub.signIn('admin')}` }
    ;({ gatewayId, peer } = await joinedGateway(hub, admin))
    door = serveDoor(peer)
  })
  afterEach(async () => {
    await peer.stop()
    await hub.stop()
  })

  const headersOf = async (role: 'user' | 'manager' | 'admin') => ({
    authorization: `Bearer ${await hub.signIn(role)}`,
  })
  const give = async (role: 'user' | 'manager' | 'admin', action: string, payload?: object, id = gatewayId) =>
    hub.app.inject({
      method: 'POST',
      url: `/api/v1/hub/gateways/${id}/commands/${action}`,
      headers: await headersOf(role),
      ...(payload && { payload }),
    })
  const read = async (path: string, id = gatewayId) => {
    const answer = await hub.app.inject({
      url: `/api/v1/hub/gateways/${id}/${path}`,
      headers: await headersOf('admin'),
    })
    return answer.json()
  }
  const own = async () => {
    await hub.signIn('user')
    const user = await hub.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'the-user')
      .executeTakeFirstOrThrow()
    await hub.db.updateTable('gateways').set(ownedBy(user.id)).execute()
  }
  const audit = async () => {
    const answer = await hub.app.inject({ url: '/api/v1/admin/audit?limit=50', headers: await headersOf('admin') })
    return answer.json<{ action: string; target: string; actor: string; result: string }[]>()
  }

  it('are rows with their expiry before they are sent, are sent once, and are audited', async () => {
    let rowWhenSent: object | undefined
    door.beforeTicket = async () => {
      rowWhenSent = await hub.db.selectFrom('commands').selectAll().executeTakeFirst()
    }
    const answer = await give('manager', 'fire', { deterrent: 'sprinkler', seconds: 5 })
    expect(answer.json()).toMatchObject({ action: 'fire', deterrent: 'sprinkler', by: 'the-manager', state: 'done' })
    expect(rowWhenSent).toMatchObject({ state: 'waiting', by_name: 'the-manager', expires_at: expect.any(Number) })
    expect(door.commands).toEqual([
      {
        ticket: 'ticket-1',
        withinMs: expect.any(Number),
        action: 'fire',
        deterrent: 'sprinkler',
        seconds: 5,
        by: 'the-manager',
      },
    ])
    expect(door.commands[0]!.withinMs).toBeLessThanOrEqual(20_000)
    expect(await read('commands')).toMatchObject([{ action: 'fire', state: 'done', seconds: 5 }])
    const target = `fire sprinkler of ${gatewayId}`
    expect((await audit()).filter(({ action }) => action.startsWith('command.'))).toMatchObject([
      { action: 'command.end', target, actor: 'the-manager', result: 'ok' },
      { action: 'command.give', target, actor: 'the-manager', result: 'ok' },
    ])
  })

  it('an undo of learning reaches the gateway, by managers alone, and is audited with what it undoes', async () => {
    const learning = { camera: 'orchard', label: 'deer', to: null }
    expect((await give('user', 'undo-learning', learning)).json()).toMatchObject({ error: 'role_required' })
    expect((await give('manager', 'undo-learning', learning)).json()).toMatchObject({ state: 'done', learning })
    expect(door.commands).toMatchObject([{ action: 'undo-learning', learning, by: 'the-manager' }])
    expect(await read('commands')).toMatchObject([{ action: 'undo-learning', learning, deterrent: null }])
    const target = `undo-learning deer on orchard of ${gatewayId}`
    expect((await audit()).filter(({ action }) => action.startsWith('command.'))).toMatchObject([
      { action: 'command.end', target, result: 'ok' },
      { action: 'command.give', target, result: 'ok' },
    ])
    // An older agent does not know the command, and has not carried it out.
    door.onCommand = (_command, response) => answerJson(response, { error: 'invalid_request', message: 'No' }, 400)
    expect((await give('manager', 'undo-learning', learning)).json()).toMatchObject({
      state: 'refused',
      code: 'not_understood',
    })
    const activity = await hub.app.inject({ url: '/api/v1/hub/activity/recent', headers: await headersOf('admin') })
    expect(activity.json()[0].message).toBe(
      'the-manager could not undo what gateway "Barn" learned of "deer" on "orchard": The agent does not know ' +
        'this command: update it.',
    )
  })

  it('names are trained, undone and carried by managers, and audited without their numbers', async () => {
    const head = {
      model: 'a'.repeat(64),
      names: ['boar'],
      cameras: ['orchard'],
      thresholds: [0.9],
      features: 1,
      weights: 'AAAAAAAAAAA=',
    }
    const order = async (action: string, body?: object) => (await give('manager', action, body)).json()
    for (const [action, body] of [
      ['learn-now', undefined],
      ['undo-names', { number: 2 }],
      ['use-names', { gateway: gatewayId }],
    ] as const)
      expect((await give('user', action, body)).json()).toMatchObject({ error: 'role_required' })
    expect(await order('learn-now')).toMatchObject({ state: 'done', names: null })
    expect(await order('undo-names', { number: 2 })).toMatchObject({ state: 'done', names: { number: 2 } })
    const other = gatewayId
    const answers: [number, object][] = [
      [200, { head }],
      [200, { head: null }],
      [404, { error: 'not_found' }],
    ]
    const said: object[] = []
    for (const [status, body] of answers) {
      door.onRequest = (request, response) =>
        answerJson(response, request.url === '/v1/learning/names' ? body : {}, status)
      said.push(await order('use-names', { gateway: other }))
    }
    const unavailable = expect.objectContaining({ error: 'learning_unavailable' }) as object
    expect(said).toEqual([expect.objectContaining({ names: { gateway: other } }), unavailable, unavailable])
    expect(await order('use-names', { gateway: 'aaaaaaaaaaaa' })).toMatchObject({ error: 'gateway_not_found' })
    expect(door.commands).toMatchObject([
      { action: 'learn-now' },
      { action: 'undo-names', names: { number: 2 } },
      { action: 'use-names', learned: { from: 'Barn', head } },
    ])
    const targets = (await audit()).filter(({ action }) => action === 'command.give').map(({ target }) => target)
    expect(targets).toContain(`use-names of ${other} at ${gatewayId}`)
    expect(targets).toContain(`undo-names version 2 at ${gatewayId}`)
    expect(JSON.stringify(await read('commands'))).not.toContain('weights')
  })

  it('what a gateway learned is read through its door, and only as it should look', async () => {
    const report = { state: 'waiting', lastRunAt: null, message: 'Nothing yet.', cameras: [] }
    const answers: [number, unknown][] = [
      [200, report],
      [200, { ...report, cameras: [{ camera: 'x' }] }],
      [404, { error: 'not_found' }],
    ]
    const told = []
    for (const [status, body] of answers) {
      door.onRequest = (request, response) =>
        answerJson(response, request.url === '/v1/learning' ? (body as object) : {}, status)
      told.push(await read('learning'))
    }
    const unavailable = expect.objectContaining({ error: 'learning_unavailable' }) as object
    expect(told).toEqual([report, unavailable, unavailable])
  })

  it('a user stops and disarms their own gateways, and neither fires, arms nor touches others', async () => {
    const stranger = await give('user', 'stop', {})
    expect(stranger.json()).toMatchObject({ error: 'gateway_not_found' })
    await own()
    expect((await give('user', 'stop', {})).json()).toMatchObject({ state: 'done', deterrent: null })
    expect((await give('user', 'disarm')).json()).toMatchObject({ state: 'done' })
    for (const [action, payload] of [
      ['fire', { deterrent: 'sprinkler' }],
      ['arm', undefined],
    ] as const)
      expect((await give('user', action, payload)).json()).toMatchObject({ error: 'role_required' })
    expect(door.commands.map(({ action }) => action)).toEqual(['stop', 'disarm'])
    for (const action of ['arm', 'disarm'])
      expect((await give('manager', action)).json()).toMatchObject({ state: 'done' })
  })

  it('a disarming with an end says so to the gateway, and an older agent disarms without one', async () => {
    const disarm = (lasts: string) => give('manager', `disarm?lasts=${lasts}`)
    expect((await disarm('1h')).json()).toMatchObject({ state: 'done', lasts: '1h' })
    expect(door.commands).toMatchObject([{ action: 'disarm', lasts: '1h' }])
    expect((await disarm('2h')).statusCode).toBe(400)
    expect((await give('manager', 'disarm')).json()).toMatchObject({ state: 'done', lasts: null })
    expect(door.commands.at(-1)).not.toHaveProperty('lasts')
    door.onCommand = (command, response) =>
      'lasts' in command
        ? answerJson(response, { error: 'invalid_request', message: 'No' }, 400)
        : answerJson(response, { outcome: 'done' })
    expect((await disarm('morning')).json()).toMatchObject({
      state: 'done',
      code: 'without_end',
      message: 'Its agent is older and knows no end: it stays disarmed until somebody arms it.',
    })
  })

  it('a user snoozes their own gateway or a camera of it, and a manager begins maintenance', async () => {
    expect((await give('user', 'snooze', { lasts: '2h' })).json()).toMatchObject({ error: 'gateway_not_found' })
    await own()
    expect((await give('user', 'snooze', { lasts: '2h' })).json()).toMatchObject({
      action: 'snooze',
      state: 'done',
      snooze: { kind: 'snooze', lasts: '2h' },
    })
    await give('user', 'snooze', { camera: 'gate', lasts: 'morning' })
    await give('user', 'end-snooze', { camera: 'gate' })
    expect(door.commands).toMatchObject([
      { action: 'snooze', snooze: { kind: 'snooze', lasts: '2h' }, by: 'the-user' },
      { action: 'snooze', snooze: { kind: 'snooze', camera: 'gate', lasts: 'morning' } },
      { action: 'end-snooze', snooze: { kind: 'snooze', camera: 'gate' } },
    ])
    for (const [action, payload] of [
      ['maintenance', { lasts: '2h' }],
      ['end-maintenance', undefined],
    ] as const)
      expect((await give('user', action, payload)).json()).toMatchObject({ error: 'role_required' })
    expect((await give('manager', 'maintenance', { lasts: '2h' })).json()).toMatchObject({ state: 'done' })
    expect((await give('manager', 'end-maintenance')).json()).toMatchObject({ state: 'done' })
    expect(door.commands.slice(3)).toMatchObject([
      { action: 'snooze', snooze: { kind: 'maintenance', lasts: '2h' } },
      { action: 'end-snooze', snooze: { kind: 'maintenance' } },
    ])
    expect((await audit()).filter(({ action }) => action === 'command.give').map(({ target }) => target)).toEqual([
      `end-maintenance ${gatewayId}`,
      `maintenance ${gatewayId}`,
      `end-snooze camera gate of ${gatewayId}`,
      `snooze camera gate of ${gatewayId}`,
      `snooze ${gatewayId}`,
    ])
  })

  it('until a moment the gateway counts seconds, because its clock may be another one', async () => {
    hub.clock.freeze()
    const until = (seconds: number) => new Date(hub.clock.now() + seconds * 1_000).toISOString()
    await give('manager', 'snooze', { until: until(86_400) })
    expect(door.commands).toMatchObject([{ snooze: { lasts: 86_400 } }])
    for (const wrong of [30, -60, 400 * 86_400])
      expect((await give('manager', 'snooze', { until: until(wrong) })).json()).toMatchObject({
        error: 'snooze_time_invalid',
      })
    for (const wrong of [{}, { lasts: '2h', until: until(600) }, { lasts: '1h' }, { until: 'tomorrow' }])
      expect((await give('manager', 'snooze', wrong)).json()).toMatchObject({ error: 'invalid_request' })
    expect((await give('manager', 'maintenance', { lasts: '2h', camera: 'gate' })).json()).toMatchObject({
      error: 'invalid_request',
    })
    expect(door.commands).toHaveLength(1)
  })

  it('an older agent does not know a snooze, and nothing is snoozed', async () => {
    door.onCommand = (_command, response) => answerJson(response, { error: 'invalid_request', message: 'No' }, 400)
    expect((await give('manager', 'snooze', { lasts: '2h' })).json()).toMatchObject({
      state: 'refused',
      code: 'not_understood',
      message: 'The agent does not know this command: update it.',
    })
  })

  it('that the gateway refuses are told with its code and sentence, without invisible characters', async () => {
    door.onCommand = (_command, response) =>
      answerJson(response, { outcome: 'refused', code: 'cool_down', message: 'Its pause\u202e is not over.\n' })
    const answer = await give('manager', 'fire', { deterrent: 'sprinkler' })
    expect(answer.json()).toMatchObject({ state: 'refused', code: 'cool_down', message: 'Its pause is not over.' })
    const activity = await hub.app.inject({ url: '/api/v1/hub/activity/recent', headers: await headersOf('admin') })
    expect(activity.json()[0].message).toBe(
      'the-manager could not fire "sprinkler" of gateway "Barn": Its pause is not over.',
    )
    const target = `fire sprinkler of ${gatewayId}`
    expect((await audit()).filter((entry) => entry.target === target)).toMatchObject([
      { action: 'command.end', result: 'refused', reason: 'Its pause is not over.' },
      { action: 'command.give', result: 'ok', reason: null },
    ])
    // An agent may answer with a code alone.
    door.onCommand = (_command, response) => answerJson(response, { outcome: 'refused', code: 'person_seen' })
    await give('manager', 'fire', { deterrent: 'sprinkler' })
    expect((await audit())[0]).toMatchObject({ action: 'command.end', reason: 'person_seen' })
  })

  it('are not sent after their expiry, also when the clock jumped there', async () => {
    door.beforeTicket = () => hub.clock.advance(60_000)
    expect((await give('manager', 'fire', { deterrent: 'sprinkler' })).json()).toMatchObject({ state: 'expired' })
    expect(door.commands).toEqual([])
  })

  it('do not live longer when the clock is set back', async () => {
    door.beforeTicket = () => hub.clock.advance(-60_000)
    await give('manager', 'fire', { deterrent: 'sprinkler' })
    // The remaining time is that of the clock that never jumps.
    expect(door.commands[0]!.withinMs).toBeLessThanOrEqual(20_000)
  })

  it('without an answer are not sent again: they could be carried out twice; a stop is sent again', async () => {
    door.onCommand = (_command, response) => response.destroy()
    const fired = (await give('manager', 'fire', { deterrent: 'sprinkler' })).json<Command>()
    expect(fired).toMatchObject({ state: 'unknown', message: expect.stringMatching(/^Sent, but no answer came/) })
    expect(door.commands).toHaveLength(1)
    door.onCommand = (_command, response) =>
      door.commands.length < 4 ? response.destroy() : answerJson(response, { outcome: 'done' })
    expect((await give('manager', 'stop', {})).json()).toMatchObject({ state: 'done' })
    expect(door.commands.map(({ action }) => action)).toEqual(['fire', 'stop', 'stop', 'stop'])
  })

  it('a stop ends what is on its way to fire', async () => {
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    door.beforeTicket = () => {
      door.beforeTicket = () => {}
      asked.resolve()
      return held.promise
    }
    const firing = give('manager', 'fire', { deterrent: 'sprinkler' })
    await asked.promise
    expect((await give('manager', 'stop', {})).json()).toMatchObject({ state: 'done' })
    expect((await firing).json()).toMatchObject({ state: 'expired', message: 'Not carried out: a stop came first.' })
    held.resolve()
    expect(door.commands.map(({ action }) => action)).toEqual(['stop'])
  })

  it('a stop ends what was given before it, however late that is written down', async () => {
    const held = Promise.withResolvers<void>()
    // The first that is sent, of which another may be answered first.
    let firstQuery: object | undefined
    const slowOnce = hub.db.withPlugin({
      transformQuery({ node, queryId }) {
        firstQuery ??= queryId
        return node
      },
      async transformResult({ result, queryId }) {
        if (queryId === firstQuery) await held.promise
        return result
      },
    })
    const log = pino({ level: 'silent' })
    openFacts(slowOnce, { log })
    const way = createGatewayDoor({ dial: hub.vpn.dial })
    const commands = createCommands({ db: slowOnce, door: way, clock: hub.clock.now, log })
    const actor = { userId: 'm', username: 'maria', role: 'manager', sessionId: '' } as const
    const act = { actor, sourceIp: '', now: hub.clock.now() }
    const firing = commands.give({ gatewayId, action: 'fire', deterrent: 'sprinkler' }, act)
    expect(await commands.give({ gatewayId, action: 'stop' }, act)).toMatchObject({ state: 'done' })
    held.resolve()
    expect(await firing).toMatchObject({ state: 'expired', message: 'Not carried out: a stop came first.' })
    expect(door.commands.map(({ action }) => action)).toEqual(['stop'])
  })

  it('that were on their way when the hub stopped are ended by the next start, and not sent', async () => {
    const row = {
      gateway_id: gatewayId,
      action: 'fire' as const,
      deterrent: 'sprinkler',
      seconds: null,
      learning: null,
      by_id: 'u1',
      by_name: 'rosa',
      source_ip: '198.51.100.7',
      code: null,
      message: '',
      created_at: hub.clock.now(),
      expires_at: hub.clock.now() + 1_000_000,
      ended_at: null,
    }
    const { url, remove } = await createTestDatabase(engine)
    const former = await startTestHub(engine, { databaseUrl: url })
    const rows = [
      { ...row, id: 'a', state: 'waiting' as const },
      { ...row, id: 'b', state: 'sent' as const },
    ]
    await former.db.insertInto('commands').values(rows).execute()
    await former.stop()
    const next = await startTestHub(engine, { databaseUrl: url })
    const ended = await next.db.selectFrom('commands').select(['id', 'state']).orderBy('id').execute()
    await next.stop()
    await remove()
    expect(ended).toEqual([
      { id: 'a', state: 'expired' },
      { id: 'b', state: 'unknown' },
    ])
  })

  it('to a device without an agent, or to an agent without a door, are refused with that reason', async () => {
    const plain = await insertTestGateway(hub.db, { kind: 'wireguard' })
    expect((await give('manager', 'stop', {}, plain)).json()).toMatchObject({ error: 'gateway_takes_no_commands' })
    for (const path of ['learning', 'cameras/yard/latest'])
      expect(await read(path, plain)).toMatchObject({ error: 'gateway_takes_no_commands' })
    const admin = await headersOf('admin')
    const older = await joinedGateway(hub, admin, 'Older')
    const answer = await give('manager', 'fire', { deterrent: 'sprinkler' }, older.gatewayId)
    expect(answer.json()).toMatchObject({ state: 'refused', code: 'no_door' })
    expect(await read('learning', older.gatewayId)).toMatchObject({ error: 'learning_unavailable' })
    await older.peer.stop()
  })

  it('are not carried out while the VPN is off, and what would be read says so', async () => {
    const headers = await headersOf('admin')
    const url = '/api/v1/hub/settings'
    const off = await hub.app.inject({ method: 'PATCH', url, headers, payload: { enableVpn: false } })
    expect(off.statusCode).toBe(200)
    for (const path of ['learning', 'cameras/yard/latest'])
      expect(await read(path)).toMatchObject({ error: 'vpn_disabled' })
    expect((await give('manager', 'stop', {})).json()).toMatchObject({ state: 'expired' })
  })

  it.each([
    ['HTML', '<script>alert(1)</script>'],
    ['too long an answer', JSON.stringify({ outcome: 'done', message: 'x'.repeat(100_000) })],
    ['another shape', JSON.stringify({ outcome: 'perhaps' })],
  ])('are unknown when the gateway answers %s', async (_what, body) => {
    door.onCommand = (_command, response) => void response.end(body)
    expect((await give('manager', 'fire', { deterrent: 'sprinkler' })).json()).toMatchObject({ state: 'unknown' })
  })
})
