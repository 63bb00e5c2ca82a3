import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql, type Kysely } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { openDatabase } from './database.ts'
import * as first from './migrations/001-first.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'

const dir = mkdtempSync(join(tmpdir(), 'hub-killed-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const FIRST = { name: '001-first', up: first.up }
/** More than SQLite holds in memory, so they are written to the file before the transaction ends. */
const ROWS = 20_000

/** A hub of the next version, killed in the middle of its migration. */
const KILLED = `
  import { sql } from 'kysely'
  import { openDatabase } from ${JSON.stringify(join(import.meta.dirname, 'database.ts'))}
  import * as first from ${JSON.stringify(join(import.meta.dirname, 'migrations/001-first.ts'))}
  const up = async (db) => {
    await sql\`alter table settings add column half integer\`.execute(db)
    await sql\`update settings set value = 'half', half = 1\`.execute(db)
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => setInterval(() => {}, 1_000))
  }
  const migrations = [{ name: '001-first', up: first.up }, { name: '002', up }]
  await openDatabase({ url: process.argv[1], copiesDir: process.argv[2], migrations })`

describe.each(testEngines)('a hub killed inside a migration on %s', (engine) => {
  test('has lost nothing, and its next start finishes the migration', async () => {
    const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
    const copiesDir = join(dir, engine)
    const old = await openDatabase({ url, migrations: [FIRST] })
    const numbers =
      engine === 'postgres'
        ? sql`generate_series(1, ${sql.lit(ROWS)}) as n`
        : sql`(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${sql.lit(ROWS)})
            select n from s)`
    await sql`insert into settings (name, value) select 'setting ' || n, 'whole'
      from ${numbers}${engine === 'sqlite' ? sql` as numbers` : sql``}`.execute(old.db)
    await old.close()

    const killed = spawn(process.execPath, ['--input-type=module', '-e', KILLED, url, copiesDir], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    expect(await once(killed, 'exit')).toEqual([null, 'SIGKILL'])

    const values = (db: Kysely<never>) =>
      sql<{ value: string; count: number }>`select value, count(*) as count from settings group by value`
        .execute(db)
        .then(({ rows }) => rows)
    const whole = [{ value: 'whole', count: ROWS }]
    const before = await openDatabase({ url, migrations: [FIRST], mayMigrate: false })
    expect(await values(before.db as never), 'as before the migration').toEqual(whole)
    await before.close()
    const up = async (db: Kysely<unknown>) => {
      await sql`alter table settings add column half integer`.execute(db)
    }
    const next = await openDatabase({ url, copiesDir, migrations: [FIRST, { name: '002', up }] })
    expect(await values(next.db as never)).toEqual(whole)
    await next.close()
    expectCopies(copiesDir)
    await remove()
  })
})

/** Two copies, one of the killed start and one of the finished start, both complete. */
function expectCopies(folder: string): void {
  const copies = readdirSync(folder)
  expect(copies).toHaveLength(2)
  for (const copy of copies) {
    const database = new DatabaseSync(join(folder, copy))
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(database.prepare("select count(*) as count from settings where value = 'whole'").get()).toEqual({
      count: ROWS,
    })
    database.close()
  }
}

test('a half-written copy of a killed start does not count as a backup and is deleted', async () => {
  const url = `sqlite:${join(dir, 'hub.sqlite')}`
  const copiesDir = join(dir, 'backups')
  const migrateTo = async (...names: string[]) => {
    const later = names.map((name) => ({ name, up: async () => {} }))
    await (await openDatabase({ url, copiesDir, migrations: [FIRST, ...later] })).close()
  }
  await migrateTo()
  await migrateTo('002')
  const [copy] = readdirSync(copiesDir)
  writeFileSync(join(copiesDir, `${copy}.unfinished`), 'half')
  await migrateTo('002', '003')
  const copies = readdirSync(copiesDir)
  expect(copies).toHaveLength(2)
  expect(copies.filter((name) => name.endsWith('.unfinished'))).toEqual([])
})
