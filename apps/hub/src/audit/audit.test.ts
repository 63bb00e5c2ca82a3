import * as contract from '@hedgerow/contract'
import type { AuditEntry } from '@hedgerow/contract'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { storeDetections } from '../detections/detections.ts'
import { writeAudit } from './audit.ts'

const DAY_MS = 86_400_000

describe.each(testEngines)('audit on %s', (engine) => {
  let hub: TestHub
  // A new database for each test: entries cannot be deleted.
  beforeEach(async () => {
    hub = await startTestHub(engine, { vpn: { backend: 'off', port: 0, endpointHost: undefined, offload: true } })
  })
  afterEach(() => hub.stop())

  const get = async (query = '', headers: Record<string, string> = {}) =>
    hub.app.inject({
      url: `/api/v1/admin/audit${query}`,
      headers: { authorization: `Bearer ${await hub.signIn('manager')}`, ...headers },
    })
  const actionsOf = async (query: string) =>
    (await get(query)).json<AuditEntry[]>().map(({ action, actor }) => `${actor} ${action}`)
  const insert = (...entries: { at?: number; actor?: string; action?: string; target?: string }[]) =>
    hub.db
      .insertInto('audit')
      .values(
        entries.map((entry) => ({
          at: entry.at ?? 0,
          actor: entry.actor ?? 'rosa',
          action: entry.action ?? 'gateway.add',
          target: entry.target ?? null,
          source_ip: '192.0.2.1',
          result: 'ok' as const,
        })),
      )
      .execute()

  test('names actor, action, target, address, time and result, newest first', async () => {
    await writeAudit(hub.db, { actor: 'rosa', action: 'gateway.add', target: 'abc', sourceIp: '::1', result: 'ok' })
    await writeAudit(hub.db, { actor: 'emil', action: 'session.start', result: 'refused' })
    const entries = (await get()).json<AuditEntry[]>()
    expect(entries.slice(0, 2)).toMatchObject([
      { actor: 'emil', action: 'session.start', target: null, sourceIp: null, result: 'refused' },
      { actor: 'rosa', action: 'gateway.add', target: 'abc', sourceIp: '::1', result: 'ok' },
    ])
    expect(Math.abs(Date.parse(entries[0]!.at) - Date.now())).toBeLessThan(60_000)
  })

  test('names requests, incidents and invitations while they are there, and where their page is', async () => {
    const gateway = await insertTestGateway(hub.db, { name: 'Barn' })
    const asked = { identity_public_key: 'k', wireguard_public_key: 'w', device_location: '', device_version: '1' }
    const device = { ...asked, mac_address: '', device_token: 't', source_ip: '198.51.100.7', requested_at: 0 }
    await hub.db
      .insertInto('registrations')
      .values([
        { ...device, id: 'r1', status: 'approved', device_name: 'Barn', gateway_id: gateway } as never,
        {
          ...device,
          id: 'r2',
          identity_public_key: 'other',
          status: 'pending',
          device_name: 'Mill',
          gateway_id: null,
        } as never,
      ])
      .execute()
    const startedAt = new Date(hub.clock.now()).toISOString()
    const boar = { id: 'd', camera: 'yard', label: 'boar', severity: 'alert', score: 0.9, startedAt } as const
    await storeDetections(hub.db, gateway, [boar], hub.clock.now())
    const { id: incident } = await hub.db.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
    const body = { label: 'Spring delivery', maxUses: 1, expiresInHours: 24 }
    const token = await hub.signIn('manager')
    const { invitation } = (await createTestApi(hub)(contract.createGatewayInvitation, { token, body })).body as {
      invitation: { id: string }
    }
    const admin = await hub.signIn('admin')
    const { invitation: unlabelled } = (
      await createTestApi(hub)(contract.createUserInvitation, { token: admin, body: { role: 'user' } })
    ).body as { invitation: { id: string } }
    await insert(
      { action: 'registration.approve', target: 'r1' },
      { action: 'registration.request', target: 'r2' },
      { action: 'registration.reject', target: 'gone' },
      { action: 'incident.review', target: incident },
      { action: 'gateway-invitation.create', target: invitation.id },
      { action: 'gateway.edit', target: gateway },
      { action: 'user-invitation.create', target: unlabelled.id },
    )
    const entries = (await get('?to=1970-01-02T00:00:00Z')).json<AuditEntry[]>().toReversed()
    expect(entries.map(({ subject }) => subject)).toEqual([
      { name: 'Barn', path: `/gateways/${gateway}` },
      { name: 'Mill', path: '/gateway-approvals' },
      null,
      { name: 'boar at Barn', path: `/threats?incident=${incident}` },
      { name: 'Spring delivery', path: '/gateway-invitations' },
      null,
      null,
    ])
  })

  test('filters by actor, action or its noun, time and text, and treats no character as a pattern', async () => {
    await insert(
      { actor: 'Rosa', action: 'gateway.add', at: 1_000, target: '100%' },
      { actor: 'rosalind', action: 'gateway.delete', at: 2_000, target: 'barn_door' },
      { actor: 'emil', action: 'gateways.count', at: 3_000, target: 'barnXdoor' },
    )
    expect(await actionsOf('?actor=rosa')).toEqual(['Rosa gateway.add'])
    expect(await actionsOf('?action=gateway')).toEqual(['rosalind gateway.delete', 'Rosa gateway.add'])
    expect(await actionsOf('?action=gateway.add')).toEqual(['Rosa gateway.add'])
    expect(await actionsOf('?q=ROSA')).toEqual(['rosalind gateway.delete', 'Rosa gateway.add'])
    expect(await actionsOf('?q=n_d')).toEqual(['rosalind gateway.delete'])
    expect(await actionsOf('?q=%25')).toEqual(['Rosa gateway.add'])
    expect(await actionsOf('?q=%5C')).toEqual([])
    expect(await actionsOf('?from=1970-01-01T00:00:02Z&to=1970-01-01T00:00:03Z')).toEqual(['rosalind gateway.delete'])
  })

  test('pages by cursor, without gaps or repeats while entries are added', async () => {
    await insert(...Array.from({ length: 25 }, (_, i) => ({ target: `t${i}` })))
    const seen: string[] = []
    let cursor: unknown
    do {
      const page = await get(
        `?limit=10&to=1971-01-01T00:00:00Z${cursor === undefined ? '' : `&cursor=${String(cursor)}`}`,
      )
      seen.push(...page.json<AuditEntry[]>().map(({ target }) => target!))
      cursor = page.headers['x-next-cursor']
      await insert({ target: 'later' })
    } while (cursor !== undefined)
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `t${24 - i}`))
  })

  test('a bare call answers a plain list of at most 100', async () => {
    await insert(...Array.from({ length: 101 }, () => ({})))
    const bare = await get()
    expect(bare.json<unknown[]>()).toHaveLength(100)
    expect(bare.headers['x-next-cursor']).toBeDefined()
  })

  test('as CSV is complete, and no field is a formula', async () => {
    await insert({ actor: '=HYPERLINK("http://x")', target: 'a "quoted", text' }, { actor: '@sum', target: '-1+1' })
    await insert(...Array.from({ length: 1_500 }, () => ({ actor: 'many' })))
    const csv = await get('?format=csv')
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(csv.headers['content-disposition']).toBe('attachment; filename="audit.csv"')
    const lines = csv.body.split('\r\n')
    expect(lines[0]).toBe('\uFEFF"at","actor","action","target","sourceIp","result","reason"')
    expect(lines).toHaveLength(1 + 1_503 + 1)
    expect(lines.slice(-3)).toEqual([
      `"1970-01-01T00:00:00.000Z","'@sum","gateway.add","'-1+1","192.0.2.1","ok",""`,
      `"1970-01-01T00:00:00.000Z","'=HYPERLINK(""http://x"")","gateway.add","a ""quoted"", text","192.0.2.1","ok",""`,
      '',
    ])
    await insert(
      ...['\t=1', ' =1', '\u00a0=1', '＝1', '＠sum', '|x', '%x'].map((actor) => ({ actor, action: 'call.make' })),
    )
    const suspects = (await get('?format=csv&action=call')).body.split('\r\n').slice(1, -1)
    expect(suspects).toHaveLength(7)
    for (const line of suspects) expect(line).toMatch(/^"[^"]+","'/)
    const accepted = await get('?limit=1', { accept: 'text/csv' })
    expect(accepted.body.split('\r\n')).toHaveLength(3)
  })

  test('the database refuses to change an entry', async () => {
    await insert({})
    await expect(hub.db.updateTable('audit').set({ actor: 'somebody else' }).execute()).rejects.toThrow(
      'entries are never changed',
    )
  })

  test('the database lets an entry go only when it is older than the hub keeps them', async () => {
    const { db } = hub
    const daysAgo = (days: number) => Date.now() - days * DAY_MS
    await insert(...[0, 29, 31, 89, 91].map((days) => ({ at: daysAgo(days), target: `${days} days` })))
    const left = async () =>
      (await db.selectFrom('audit').select('target').where('actor', '=', 'rosa').orderBy('id').execute()).map(
        (row) => row.target,
      )
    const goes = (target: string) => db.deleteFrom('audit').where('target', '=', target).execute()
    const refusal = 'entries are kept until they are old'
    await expect(goes('89 days')).rejects.toThrow(refusal)
    const emptying = engine === 'postgres' ? sql`truncate audit` : sql`delete from audit`
    await expect(emptying.execute(db)).rejects.toThrow(refusal)
    await goes('91 days')
    expect(await left()).toEqual(['0 days', '29 days', '31 days', '89 days'])

    await db.insertInto('settings').values({ name: 'logRetentionDays', value: '30' }).execute()
    await expect(goes('29 days')).rejects.toThrow(refusal)
    await goes('31 days')
    await db.updateTable('settings').set({ value: '0' }).execute()
    await expect(goes('0 days')).rejects.toThrow(refusal)
    await db.updateTable('settings').set({ value: '30' }).execute()
    await hub.retention.purge()
    expect(await left()).toEqual(['0 days', '29 days'])
  })

  test('reads a limited number of entries at once for a text, and continues where it stopped', async () => {
    await insert({ target: 'the needle' })
    const hay = Array.from({ length: 1_000 }, () => ({ at: 1 }))
    for (let i = 0; i < 10; i++) await insert(...hay)
    for (const query of ['?q=needle', '?q=needle&to=2026-01-01T00:00:00Z']) {
      const first = await get(query)
      expect(first.json()).toEqual([])
      const rest = await get(`${query}&cursor=${String(first.headers['x-next-cursor'])}`)
      expect(rest.json()).toMatchObject([{ target: 'the needle' }])
      expect(rest.headers['x-next-cursor']).toBeUndefined()
    }
    expect((await get('?q=needle&to=1970-01-01T00:00:00.001Z')).json()).toMatchObject([{ target: 'the needle' }])
    expect((await get('?q=needle&format=csv')).body.split('\r\n')).toHaveLength(3)
  })

  test('is for managers and admins, and refuses unknown parameters', async () => {
    const asUser = await hub.app.inject({
      url: '/api/v1/admin/audit',
      headers: { authorization: `Bearer ${await hub.signIn('user')}` },
    })
    expect(asUser.json()).toMatchObject({ error: 'role_required' })
    for (const query of ['?limit=0', '?limit=1001', '?cursor=x', '?from=yesterday', '?sort=actor', '?format=xml'])
      expect((await get(query)).statusCode).toBe(400)
  })

  test('records nothing while it is off, except who switched it', async () => {
    await hub.db.insertInto('settings').values({ name: 'enableAuditLog', value: 'false' }).execute()
    await writeAudit(hub.db, { actor: 'rosa', action: 'gateway.add', result: 'ok' })
    await writeAudit(hub.db, { actor: 'rosa', action: 'settings.change', result: 'ok' })
    await hub.db.deleteFrom('settings').execute()
    expect(await actionsOf('?actor=rosa')).toEqual(['rosa settings.change'])
  })
})
