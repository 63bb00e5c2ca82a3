import { ALERT_RULE_DEFAULTS } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS } from '../migrations.ts'

const before = MIGRATIONS.filter(({ name }) => name < '043')

type Old = Awaited<ReturnType<typeof openDatabase>>['db']

/** Rows of tables as they were, with something in each column that needs a value. */
async function fill(db: Old, table: 'gateways' | 'gateway_invitations', rows: object[]): Promise<void> {
  const { columns } = (await db.introspection.getTables()).find(({ name }) => name === table)!
  for (const row of rows) {
    const key = Object.values(row)[0] as string
    const needed = columns.filter(
      ({ isNullable, hasDefaultValue, name }) => !isNullable && !hasDefaultValue && !(name in row),
    )
    const others = Object.fromEntries(
      needed.map(({ name, dataType }) => [name, /text|char/i.test(dataType) ? `${name} of ${key}` : 0]),
    )
    await db
      .insertInto(table)
      .values({ ...others, ...row } as never)
      .execute()
  }
}

test.each(testEngines)('what names a location names its site, and covers the same gateways, on %s', async (engine) => {
  const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
  const old = await openDatabase({ url, migrations: before })
  const fleet = { barn: 'Hill', shed: 'Hill', mill: 'hill', gate: 'Valley', pond: 'Nobody names it', loft: '' }
  const kind = 'enrolled'
  await fill(
    old.db,
    'gateways',
    Object.entries(fleet).map(([id, location]) => ({ id, kind, location, created_at: 0 })),
  )
  const rules = { boars: ['Hill', 'Valley'], all: [], later: ['Not yet'], case: ['hill'] }
  for (const [id, sites] of Object.entries(rules))
    await old.db
      .insertInto('alert_rules')
      .values({ id, fields: JSON.stringify({ ...ALERT_RULE_DEFAULTS, name: id, sites }), created_at: 0 })
      .execute()
  const first = JSON.stringify({ name: 'first', enabled: true })
  await old.db.insertInto('alert_rules').values({ id: 'first', fields: first, created_at: 0 }).execute()
  const user = { id: 'ada', username: 'ada', username_key: 'ada', email: '', first_name: '', last_name: '' }
  await old.db
    .insertInto('users')
    .values({ ...user, role: 'admin', active: 1, password_hash: '', created_at: 0 } as never)
    .execute()
  const views = { at: 'label=boar&site=Hill', none: 'label=boar', gone: 'site=Left+long+ago&fired=yes' }
  for (const [id, filter] of Object.entries(views))
    await old.db.insertInto('saved_views').values({ id, user_id: 'ada', name: id, filter, created_at: 0 }).execute()
  await old.db.insertInto('site_updates').values({ site: 'Valley', automatic: 0, hours: null }).execute()
  const invitation = { label: 'x', max_uses: 2, uses: 1, expires_at: 1, created_at: 0, created_by: 'ada' }
  await fill(old.db, 'gateway_invitations', [
    { id: 'open', location: 'Invited', ...invitation },
    { id: 'used', location: 'Used up', ...invitation, uses: 2 },
    { id: 'away', location: 'Revoked', ...invitation, revoked_at: 1 },
  ])
  await old.close()

  const { db, close } = await openDatabase({ url })
  const names = new Map(
    (await db.selectFrom('sites').select(['id', 'name']).execute()).map(({ id, name }) => [id, name]),
  )
  const gateways = await db.selectFrom('gateways').select(['id', 'location', 'site_id']).orderBy('id').execute()
  const known = await db.selectFrom('site_names').selectAll().execute()
  const ruleRows = await db.selectFrom('alert_rules').select(['id', 'fields']).execute()
  const viewRows = await db.selectFrom('saved_views').select(['id', 'filter']).execute()
  const updates = await db.selectFrom('site_updates').selectAll().execute()
  const invitations = await db
    .selectFrom('gateway_invitations')
    .select(['id', 'location', 'site_id'])
    .orderBy('id')
    .execute()
  await close()
  await remove()

  expect([...names.values()].toSorted()).toEqual(['Hill', 'Invited', 'Left long ago', 'Not yet', 'Valley', 'hill'])
  expect(new Map(known.map(({ name, site_id }) => [site_id, name]))).toEqual(names)
  // The texts stay, and what a rule covers is the same.
  expect(Object.fromEntries(gateways.map(({ id, location }) => [id, location]))).toEqual(fleet)
  for (const [id, sites] of Object.entries(rules)) {
    const { fields } = ruleRows.find((row) => row.id === id)!
    const now = (JSON.parse(fields) as { sites: string[] }).sites
    expect(now.map((site) => names.get(site))).toEqual(sites)
    const covered = gateways.filter(({ site_id }) => now.includes(site_id ?? '')).map((gateway) => gateway.id)
    const coveredBefore = Object.entries(fleet).filter(([, location]) => (sites as string[]).includes(location))
    expect(covered.toSorted()).toEqual(coveredBefore.map(([gateway]) => gateway).toSorted())
  }
  expect(ruleRows.find(({ id }) => id === 'first')!.fields).toBe(first)
  expect(gateways.filter(({ site_id }) => site_id === null).map(({ id }) => id)).toEqual(['loft', 'pond'])
  const viewed = viewRows.map(({ id, filter }) => {
    const parameters = new URLSearchParams(filter)
    const site = parameters.get('site')
    if (site !== null) parameters.set('site', names.get(site)!)
    return [id, String(parameters)]
  })
  expect(Object.fromEntries(viewed)).toEqual(views)
  expect(updates.map((row) => ({ ...row, site: names.get(row.site) }))).toEqual([
    { site: 'Valley', automatic: 0, hours: null },
  ])
  expect(invitations.map(({ id, location, site_id }) => [id, location, names.get(site_id ?? '')])).toEqual([
    ['away', 'Revoked', undefined],
    ['open', 'Invited', 'Invited'],
    ['used', 'Used up', undefined],
  ])
})
