import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from './database.ts'
import { startPostgres } from '#testing/postgres.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/operations/install.md'), 'utf8')

test('the commands for PostgreSQL in install.md create a database in which a hub can create its tables', async () => {
  const statements = [...page.matchAll(/^ {4}runuser -u postgres -- psql -c "(.+)"$/gm)].map(
    ([, statement]) => statement!,
  )
  const [, address] = /HUB_DATABASE_URL=(postgres:\S+)/.exec(page)!
  expect(statements).toHaveLength(2)
  const postgres = await startPostgres()
  onTestFinished(postgres.stop)
  const superuser = new Client(postgres.url('postgres'))
  await superuser.connect()
  for (const statement of statements) await superuser.query(statement)
  await superuser.end()

  const named = new URL(address!)
  const url = new URL(postgres.url(named.pathname.slice(1)))
  url.username = named.username
  url.password = named.password
  const hub = await openDatabase({ url: url.href })
  onTestFinished(hub.close)
  expect(await hub.db.selectFrom('settings').selectAll().execute()).toEqual([])
})
