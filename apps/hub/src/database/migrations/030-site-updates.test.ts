import { expect, test } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS } from '../migrations.ts'

const before = MIGRATIONS.filter(({ name }) => name < '030')

test.each(testEngines)('requests for updates of before go on, on %s', async (engine) => {
  const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
  const old = await openDatabase({ url, migrations: before })
  const gateway = { id: 'barn', name: 'Barn', kind: 'wireguard', created_at: 0 }
  const columns = (await old.db.introspection.getTables()).find(({ name }) => name === 'gateways')!.columns
  const filled = columns.filter(
    ({ isNullable, hasDefaultValue, name }) => !isNullable && !hasDefaultValue && !(name in gateway),
  )
  const others = Object.fromEntries(filled.map(({ name, dataType }) => [name, /text|char/i.test(dataType) ? name : 0]))
  await old.db
    .insertInto('gateways')
    .values({ ...others, ...gateway } as never)
    .execute()
  const request = {
    gateway_id: 'barn',
    number: 7,
    version: '0.7.0',
    attempt: 5,
    by_name: null,
    asked_at: 5,
    ended_at: null,
  }
  await old.db
    .insertInto('gateway_updates')
    .values({ ...request, state: 'asked', message: '' } as never)
    .execute()
  await old.close()
  const { db, close } = await openDatabase({ url })
  const requests = await db.selectFrom('gateway_updates').selectAll().execute()
  const sites = await db.selectFrom('site_updates').selectAll().execute()
  await close()
  await remove()
  expect([requests, sites]).toEqual([[{ ...request, state: 'asked', message: '', held_at: null }], []])
})
