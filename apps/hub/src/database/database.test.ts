import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { NO_PROGRESS } from '@hedgerow/http'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { examine } from '../cli/doctor.ts'
import { readConfig } from '../read-config.ts'
import { backupDatabase, restoreDatabase } from './backup.ts'
import { checkDatabase, openDatabase, type Database } from './database.ts'
import { migrate } from './migrations.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { isUniqueViolation } from './storage-errors.ts'
import { createTestDatabase, hasPostgres, openTestDatabase, testEngines } from '#testing/databases.ts'
import { runStatement } from '#testing/postgres.ts'
import { inTransaction } from './transaction.ts'

describe.each(testEngines)('the database on %s', (engine) => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase(engine)
  })
  afterAll(() => database.close())

  const put = (name: string, value: string) => database.db.insertInto('settings').values({ name, value }).execute()
  const get = async (name: string) =>
    (await database.db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst())?.value

  test('a throw rolls the transaction back', async () => {
    const failing = inTransaction(database.db, async (transaction) => {
      await transaction.insertInto('settings').values({ name: 'rolled-back', value: '1' }).execute()
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await get('rolled-back')).toBeUndefined()
  })

  test('a transaction inside a transaction is part of it', async () => {
    const failing = inTransaction(database.db, async (outer) => {
      await inTransaction(outer, (inner) =>
        inner.insertInto('settings').values({ name: 'nested', value: '1' }).execute(),
      )
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await get('nested')).toBeUndefined()
  })

  test('concurrent transactions that read and then write lose no update', async () => {
    await put('counter', '0')
    await Promise.all(
      Array.from({ length: 8 }, () =>
        inTransaction(database.db, async (transaction) => {
          const row = await transaction
            .selectFrom('settings')
            .select('value')
            .where('name', '=', 'counter')
            .executeTakeFirstOrThrow()
          await sleep(1)
          await transaction
            .updateTable('settings')
            .set({ value: String(Number(row.value) + 1) })
            .where('name', '=', 'counter')
            .execute()
        }),
      ),
    )
    expect(await get('counter')).toBe('8')
  })

  test('a query beside a transaction does not see its writes before the commit', async () => {
    const written = Promise.withResolvers<void>()
    const transaction = inTransaction(database.db, async (inside) => {
      await inside.insertInto('settings').values({ name: 'isolated', value: '1' }).execute()
      written.resolve()
      await sleep(20)
      throw new Error('no')
    })
    await written.promise
    const [outcome, seen] = await Promise.allSettled([transaction, get('isolated')])
    expect(outcome.status).toBe('rejected')
    expect(seen).toEqual({ status: 'fulfilled', value: undefined })
  })

  test('counts, sums and generated ids are numbers', async () => {
    const { id } = await database.db
      .insertInto('activity')
      .values({ at: 1_800_000_000_123, type: 'info', message: 'hello', gateway_id: null })
      .returning('id')
      .executeTakeFirstOrThrow()
    const row = await database.db
      .selectFrom('activity')
      .select((eb) => ['at', eb.fn.countAll<number>().as('count'), eb.fn.sum<number>('id').as('sum')])
      .groupBy('at')
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ at: 1_800_000_000_123, count: 1, sum: id })
  })

  test('a row that refers to nothing is refused', async () => {
    const orphan = database.db.insertInto('sessions').values({
      id: 's',
      user_id: 'nobody',
      created_at: 0,
      expires_at: 0,
      source_ip: '',
      user_agent: '',
    })
    await expect(orphan.execute()).rejects.toThrow(/foreign key/i)
  })

  test('a second row with the same key is distinguished from other failures', async () => {
    await put('once', '1')
    const second = await put('once', '2').catch((error: unknown) => error)
    expect(isUniqueViolation(second)).toBe(true)
    const other = await put('null', null as never).catch((error: unknown) => error)
    expect(isUniqueViolation(other)).toBe(false)
  })

  test('written rows are there after closing and opening again', async () => {
    const { url, remove } = await createTestDatabase(engine)
    const before = await openDatabase({ url })
    await before.db.insertInto('settings').values({ name: 'kept', value: 'yes' }).execute()
    await before.close()
    const after = await openDatabase({ url })
    expect(await after.db.selectFrom('settings').selectAll().execute()).toEqual([{ name: 'kept', value: 'yes' }])
    await after.close()
    await remove()
  })

  test('a database that a newer hub migrated is refused by name', async () => {
    const { url, remove } = await createTestDatabase(engine)
    const newer = await openDatabase({ url })
    const ledger = newer.db.withTables<{ migrations: { name: string; applied_at: number } }>()
    await ledger.insertInto('migrations').values({ name: '999-future', applied_at: 0 }).execute()
    await newer.close()
    await expect(openDatabase({ url })).rejects.toThrow('999-future')
    await remove()
  })
})

describe('a storage that fails', () => {
  test('a full disk is storage_unavailable for writes, not for reads, and ends when there is room', async () => {
    const { db, close } = await openTestDatabase('sqlite')
    const write = (size: number) =>
      inTransaction(db, (transaction) =>
        transaction
          .insertInto('settings')
          .values({ name: `row ${size}`, value: 'x'.repeat(size) })
          .execute(),
      )
    const { page_count: pages } = (await sql<{ page_count: number }>`pragma page_count`.execute(db)).rows[0]!
    await sql`pragma max_page_count = ${sql.lit(pages)}`.execute(db)
    await expect(write(1_000_000)).rejects.toMatchObject({ code: 'storage_unavailable' })
    await expect(checkDatabase(db)).resolves.toBeUndefined()
    expect(await db.selectFrom('settings').selectAll().execute()).toEqual([])
    await sql`pragma max_page_count = ${sql.lit(pages * 100)}`.execute(db)
    await write(1_000_000)
    await close()
  })

  test('a file that cannot be written is storage_unavailable', async () => {
    await expect(openDatabase({ url: 'sqlite:/proc/hub.sqlite' })).rejects.toThrow(/ENOENT|EACCES/)
    const { db, close } = await openTestDatabase('sqlite')
    await sql`pragma query_only = on`.execute(db)
    const write = db.insertInto('settings').values({ name: 'a', value: 'b' }).execute()
    await expect(write).rejects.toMatchObject({ code: 'storage_unavailable' })
    await close()
  })

  test.skipIf(!hasPostgres)('PostgreSQL ending every connection fails running queries and no later ones', async () => {
    const { db, close } = await openTestDatabase('postgres')
    const cut = inTransaction(db, async (transaction) => {
      await transaction.insertInto('settings').values({ name: 'cut', value: '' }).execute()
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(db)
      await transaction.insertInto('settings').values({ name: 'after', value: '' }).execute()
    })
    await expect(cut).rejects.toMatchObject({ code: 'storage_unavailable' })
    expect(await db.selectFrom('settings').selectAll().execute()).toEqual([])
    await inTransaction(db, (transaction) =>
      transaction.insertInto('settings').values({ name: 'later', value: '' }).execute(),
    )
    await close()
  })

  test('an unreachable PostgreSQL is storage_unavailable', async () => {
    await expect(openDatabase({ url: 'postgres://hub@127.0.0.1:1/hub' })).rejects.toMatchObject({
      code: 'storage_unavailable',
    })
  })

  test.skipIf(!hasPostgres).each(['LATIN1', 'SQL_ASCII', 'WIN1252'])(
    'a PostgreSQL database with the encoding %s is refused in words; a backup can still be taken',
    async (encoding) => {
      const { url, remove } = await createTestDatabase('postgres', { isEmpty: true })
      onTestFinished(remove)
      const name = `${new URL(url).pathname.slice(1)}_${encoding.toLowerCase()}`
      await runStatement(url, `create database ${name} encoding '${encoding}' locale 'C' template template0`)
      onTestFinished(() => runStatement(url, `drop database ${name} with (force)`))
      const other = url.replace(/[^/]*(?=\?)/, name)
      const words = `has the encoding ${encoding}, and the hub needs UTF8. Make another`
      await expect(openDatabase({ url: other })).rejects.toThrow(words)
      const config = readConfig({ HUB_DATABASE_URL: other, HUB_PORT: '0', HUB_VPN_PORT: '0' })
      expect(await examine(config)).toContainEqual(
        expect.objectContaining({ check: 'database', state: 'FAIL', text: expect.stringContaining(words) as string }),
      )

      // An older hub took it.
      const old = new Kysely<unknown>({ dialect: postgresDialect(other) })
      await migrate(old, 'postgres', { mayMigrate: true, progress: NO_PROGRESS, beforeMigrating: async () => {} })
      await old.destroy()
      await expect(openDatabase({ url: other })).rejects.toThrow(words)
      expect(await examine(config)).toContainEqual(
        expect.objectContaining({ check: 'database', state: 'FAIL', text: `its encoding is ${encoding}, not UTF8` }),
      )
      const folder = mkdtempSync(join(tmpdir(), 'hub-encoding-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      await backupDatabase(other, join(folder, 'backup'))
      await restoreDatabase(url, join(folder, 'backup'))
    },
  )
})
