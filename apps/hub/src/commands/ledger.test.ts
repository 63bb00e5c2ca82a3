import { randomBytes } from 'node:crypto'
import type { ActivityEntry, LedgerEntry } from '@hedgerow/contract'
import { generateIdentitySeed, identityOfSeed, requestBytes, type Identity } from '@hedgerow/enrolment'
import { IDENTITY_HEADER, NONCE_HEADER, SIGNATURE_HEADER, TIME_HEADER } from '@hedgerow/enrolment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { storeDetections } from '../detections/detections.ts'

const LEDGER = '/api/v1/gateway/ledger'

describe.each(testEngines)('the ledger of a gateway on %s', (engine) => {
  let hub: TestHub
  let identity: Identity
  let gatewayId: string
  beforeEach(async () => {
    hub = await startTestHub(engine)
    identity = identityOfSeed(generateIdentitySeed())
    gatewayId = await insertTestGateway(hub.db, { identity_public_key: identity.publicKey, name: 'Barn' })
  })
  afterEach(() => hub.stop())

  const send = (entries: unknown[]) => {
    const payload = JSON.stringify({ entries })
    const time = String(Math.floor(hub.clock.now()))
    const nonce = randomBytes(32).toString('base64')
    const signed = requestBytes({ method: 'POST', target: LEDGER, time, nonce, body: Buffer.from(payload) })
    const headers = {
      'content-type': 'application/json',
      [IDENTITY_HEADER]: identity.publicKey,
      [TIME_HEADER]: time,
      [NONCE_HEADER]: nonce,
      [SIGNATURE_HEADER]: identity.sign(signed),
    }
    return hub.app.inject({ method: 'POST', url: LEDGER, headers, payload })
  }
  const fired = (id: number, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
    id,
    at: Math.floor(hub.clock.now()),
    kind: 'fired',
    deterrent: 'sprinkler',
    firing: `f${id}`,
    by: { kind: 'rule', name: 'Boar at night', detection: 'd1' },
    seconds: 10,
    ...more,
  })
  const get = async (path: string, role: 'user' | 'admin' = 'admin') => {
    const headers = { authorization: `Bearer ${await hub.signIn(role)}` }
    return hub.app.inject({ url: `/api/v1/hub/${path}`, headers })
  }

  it('has each entry once, however often it is sent and whatever else the call holds', async () => {
    const entries = [fired(1), fired(2, { kind: 'ended' }), fired(3)]
    expect((await send(entries.slice(0, 2))).json()).toEqual({ accepted: 2 })
    expect((await send(entries)).json()).toEqual({ accepted: 3 })
    await Promise.all([send(entries), send(entries)])
    expect((await get(`gateways/${gatewayId}/ledger`)).json()).toEqual(entries.toReversed())
    expect((await get('stats')).json()).toMatchObject({ firings: 2 })
    expect((await get('timeline')).json().at(-1)).toMatchObject({ firings: 2 })
    const messages = (await get('activity/recent')).json().map(({ message }: { message: string }) => message)
    const line = 'Deterrent "sprinkler" of "Barn" was fired by the rule "Boar at night" for 10 s'
    expect(messages).toEqual([line, line])
  })

  it('leads from the activity about a firing to the incident of its detection, if the hub has it', async () => {
    await send([
      fired(1),
      fired(2, { kind: 'failed', message: 'no answer' }),
      fired(3, { by: { kind: 'rule', name: 'Boar at night', detection: 'elsewhere' } }),
      fired(4, { by: { kind: 'person', name: 'Rosa' } }),
    ])
    const startedAt = new Date(hub.clock.now()).toISOString()
    const seen = { id: 'd1', camera: 'yard', label: 'boar', severity: 'detection' as const, score: 0.9, startedAt }
    await storeDetections(hub.db, gatewayId, [seen], hub.clock.now())
    const activity = (await get('activity/recent')).json<ActivityEntry[]>().toReversed()
    const { id: incidentId } = await hub.db.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
    const detection = { id: 'd1', incidentId, hasThumbnail: false }
    expect(activity.map((entry) => entry.detection)).toEqual([detection, detection, null, null])
  })

  it('leaves in the audit what people do at the device, as the device tells it', async () => {
    const person = (via: 'hub' | 'device', name = 'rosa') => ({ by: { kind: 'person' as const, name, via } })
    const sent = Date.now()
    await hub.db
      .insertInto('commands')
      .values({
        id: 'c1',
        gateway_id: gatewayId,
        action: 'stop',
        by_id: 'u1',
        by_name: 'emil',
        source_ip: '',
        state: 'done',
        message: '',
        created_at: hub.clock.now(),
        expires_at: sent,
      })
      .execute()
    await send([
      fired(1),
      fired(2, person('device', 'device password')),
      fired(3, { kind: 'stopped', ...person('hub', 'emil') }),
      fired(4, { kind: 'disarmed', ...person('hub') }),
      fired(5, { kind: 'file-saved', ...person('hub'), from: '10.1.2.3', message: 'rules, mqtt (secret changed)' }),
      fired(6, { kind: 'password-refused', by: undefined, from: '10.1.2.9', times: 3 }),
    ])
    const entries = (await hub.db.selectFrom('audit').selectAll().orderBy('id').execute())
      .filter(({ action }) => action.startsWith('device.'))
      .map(({ actor, action, target, result, reason }) => {
        expect([actor, target]).toEqual(['gateway', gatewayId])
        return [action, result, reason]
      })
    expect(entries.toSorted()).toEqual([
      ['device.save-file', 'ok', 'gateway.yaml was saved by rosa from 10.1.2.3: rules, mqtt (secret changed)'],
      ['device.use', 'ok', 'sprinkler disarmed for 10 s by rosa on its pages through the hub'],
      ['device.use', 'ok', 'sprinkler fired for 10 s by device password at the device'],
      ['device.use', 'refused', 'a wrong device password was given from 10.1.2.9, 3 times'],
    ])
  })

  it('takes a device that was set up anew and counts from 1 again', async () => {
    await send([fired(1)])
    hub.clock.advance(1_000)
    await send([fired(1)])
    expect((await get(`gateways/${gatewayId}/ledger`)).json()).toHaveLength(2)
  })

  it('comes in pages, and only for people who may see the gateway', async () => {
    await send(Array.from({ length: 5 }, (_, index) => fired(index + 1)))
    const first = await get(`gateways/${gatewayId}/ledger?limit=3`)
    const cursor = encodeURIComponent(String(first.headers['x-next-cursor']))
    const second = await get(`gateways/${gatewayId}/ledger?limit=3&cursor=${cursor}`)
    const ids = [first, second].map((page) => page.json().map(({ id }: LedgerEntry) => id))
    expect(ids).toEqual([
      [5, 4, 3],
      [2, 1],
    ])
    expect((await get(`gateways/${gatewayId}/ledger`, 'user')).json()).toMatchObject({ error: 'gateway_not_found' })
  })

  it('of a gateway that floods is refused, and the hub keeps a bounded part', async () => {
    hub.clock.freeze()
    const at = Math.floor(hub.clock.now())
    const statuses = new Set<number>()
    for (let call = 0; call < 40; call++)
      statuses.add((await send(Array.from({ length: 100 }, (_, i) => fired(call * 100 + i + 1, { at })))).statusCode)
    expect([...statuses]).toEqual([200, 429])
    const rows = await hub.db
      .selectFrom('ledger')
      .select((row) => row.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(Number(rows.count)).toBeLessThanOrEqual(10_000)
    const activity = await hub.db.selectFrom('activity').selectAll().where('gateway_id', '=', gatewayId).execute()
    expect(activity.length).toBeLessThanOrEqual(21)
  })

  it('refuses what is no entry', async () => {
    for (const wrong of [{ id: 0 }, { kind: 'exploded' }, { at: -1 }, { surplus: 1 }, { message: 'x'.repeat(501) }])
      expect((await send([{ ...fired(1), ...wrong }])).json()).toMatchObject({ error: 'invalid_request' })
    expect((await send(Array.from({ length: 101 }, (_, i) => fired(i + 1)))).statusCode).toBe(400)
  })
})
