import { API_BASE } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownedBy } from '../access/ownership.ts'
import { recordActivity } from '../followers/activity-entries.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { SEARCHED_AT_MOST } from './pagination.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

/** Newest last; some have the same time, and some hold characters of LIKE patterns. */
const NAMES = ['North 100%', 'South_field', 'Southern', 'West \\ gate', 'Orchard', 'Orchard two', 'Barn']

describe.each(testEngines)('lists with pages and search on %s', (engine) => {
  let hub: TestHub
  let gatewayId: string
  beforeAll(async () => {
    hub = await startTestHub(engine)
    gatewayId = await insertTestGateway(hub.db)
    const now = hub.clock.now()
    const common = { max_uses: 1, uses: 0, expires_at: now + 60_000, revoked_at: null, created_by: 'rosa' }
    for (const [index, name] of NAMES.entries()) {
      const at = now - 1_000 + Math.floor(index / 2)
      const invitation = {
        ...common,
        id: `invite${'abcdefg'[index]}22222`,
        code_hash: `hash ${index}`,
        label: name,
        created_at: at,
      }
      await hub.db.insertInto('gateway_invitations').values(invitation).execute()
      await hub.db
        .insertInto('user_invitations')
        .values({ ...invitation, role: 'user' })
        .execute()
      await recordActivity(hub.db, {
        at,
        type: 'info',
        message: `"${name}" was seen`,
        gatewayId,
        kind: 'gateway.edited',
      })
      await hub.db
        .insertInto('detections')
        .values({
          gateway_id: gatewayId,
          id: `d${index}`,
          camera: name,
          label: 'fox',
          severity: 'detection',
          score: 1,
          started_at: at,
          received_at: at,
        })
        .execute()
    }
  })
  afterAll(() => hub.stop())

  type Row = { label?: string; message?: string; camera?: string }
  const lists: [string, () => string, (row: Row) => string][] = [
    ['gateway invitations', () => '/v1/admin/gateway-invitations', ({ label }) => label!],
    ['user invitations', () => '/v1/admin/user-invitations', ({ label }) => label!],
    ['activity', () => '/v1/hub/activity/recent', ({ message }) => /"(.*)"/.exec(message!)![1]!],
    ['detections', () => `/v1/hub/gateways/${gatewayId}/detections`, ({ camera }) => camera!],
  ]
  const ask = async (path: string, query: Record<string, string> = {}) =>
    hub.app.inject({
      url: API_BASE + path,
      query,
      headers: { authorization: `Bearer ${await hub.signIn('manager')}` },
    })

  describe.each(lists)('%s', (_list, path, nameOf) => {
    const namesAt = async (query: Record<string, string>) => (await ask(path(), query)).json<Row[]>().map(nameOf)

    test('answer whole and plain to a bare call, newest first', async () => {
      const answer = await ask(path())
      expect(answer.headers['x-next-cursor']).toBeUndefined()
      const names = answer.json<Row[]>().map(nameOf)
      expect(names[0]).toBe('Barn')
      expect(names.toSorted()).toEqual(NAMES.toSorted())
    })

    test('return every row once, page by page, in the order of the whole list', async () => {
      const whole = await namesAt({})
      const paged: string[] = []
      let cursor: string | undefined
      do {
        const answer = await ask(path(), { limit: '2', ...(cursor !== undefined && { cursor }) })
        const rows = answer.json<Row[]>()
        expect(rows.length).toBeLessThanOrEqual(2)
        paged.push(...rows.map(nameOf))
        cursor = answer.headers['x-next-cursor'] as string | undefined
      } while (cursor !== undefined)
      expect(paged).toEqual(whole)
    })

    test('find a part of the text in any case, and treat no character as a pattern', async () => {
      expect((await namesAt({ q: 'SOUTH' })).toSorted()).toEqual(['South_field', 'Southern'])
      expect(await namesAt({ q: 'h_f' })).toEqual(['South_field'])
      expect(await namesAt({ q: '%' })).toEqual(['North 100%'])
      expect(await namesAt({ q: '\\' })).toEqual(['West \\ gate'])
      expect(await namesAt({ q: "x' or 1=1 --" })).toEqual([])
      expect(await namesAt({ q: ' ' })).toHaveLength(NAMES.length)
    })

    test('page through search results', async () => {
      const first = await ask(path(), { q: 'orchard', limit: '1' })
      expect(first.json<Row[]>().map(nameOf)).toHaveLength(1)
      const cursor = String(first.headers['x-next-cursor'])
      const second = await ask(path(), { q: 'orchard', limit: '1', cursor })
      expect(second.headers['x-next-cursor']).toBeUndefined()
      expect([...first.json<Row[]>(), ...second.json<Row[]>()].map(nameOf).toSorted()).toEqual([
        'Orchard',
        'Orchard two',
      ])
    })

    test.each([
      { limit: '0' },
      { limit: '1001' },
      { cursor: 'W10' },
      { cursor: 'x' },
      { q: 'x'.repeat(201) },
      { sort: 'label' },
    ])('refuse %j', async (query) => {
      expect(await ask(path(), query)).toMatchObject({ statusCode: 400 })
    })
  })

  test('search only the newest ten thousand entries of an endless list', async () => {
    const { db } = hub
    const now = hub.clock.now()
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ at: now + i, type: 'info' as const, message: 'filler' }))
    for (let added = NAMES.length; added < SEARCHED_AT_MOST; added += rows.length)
      await db.insertInto('activity').values(rows).execute()
    const found = async (q: string) => (await ask('/v1/hub/activity/recent', { q })).json<unknown[]>().length
    expect(await found('Barn')).toBe(0)
    expect(await found('filler')).toBe(50)
  })

  test('search no further for a person with many gateways than for one with all', async () => {
    const { db } = hub
    await hub.signIn('user')
    const owner = db.selectFrom('users').select('id').where('username', '=', 'the-user')
    const { id: ownerId } = await owner.executeTakeFirstOrThrow()
    const now = hub.clock.now()
    for (let own = 0; own < 4; own++) {
      const gateway_id = await insertTestGateway(db, ownedBy(ownerId))
      const rows = Array.from({ length: 1_000 }, (_, i) => ({ at: now + i, type: 'info' as const, gateway_id }))
      await db
        .insertInto('activity')
        .values({ ...rows[0]!, at: now - 1, message: 'the needle' })
        .execute()
      for (let i = 0; i < 3; i++)
        await db
          .insertInto('activity')
          .values(rows.map((row) => ({ ...row, message: 'hay' })))
          .execute()
    }
    const headers = { authorization: `Bearer ${await hub.signIn('user')}` }
    const url = `${API_BASE}/v1/hub/activity/recent`
    expect((await hub.app.inject({ url, query: { q: 'needle' }, headers })).json()).toEqual([])
    expect((await hub.app.inject({ url, query: { q: 'hay' }, headers })).json()).toHaveLength(50)
  })
})
