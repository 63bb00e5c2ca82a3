import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { ownedBy } from '../access/ownership.ts'
import { backupDatabase, restoreDatabase } from './backup.ts'
import { openDatabase } from './database.ts'
import { lockDatabase } from './lock.ts'
import { MIGRATIONS } from './migrations.ts'
import type { Db } from './tables.ts'
import { createTestDatabase, hasPostgres, testEngines } from '#testing/databases.ts'

const dir = mkdtempSync(join(tmpdir(), 'hub-backup-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
let files = 0
const newFile = () => join(dir, `backup-${++files}`)

/** Too new for any hub to delete. */
const auditEntry = (target: string) =>
  ({ at: Date.now(), actor: 'rosa', action: 'gateway.add', target, result: 'ok' }) as const

/** Rows in tables that refer to each other, with every kind of value. */
async function fill(db: Db): Promise<void> {
  const user = {
    email: '',
    first_name: 'Ünï',
    last_name: "O'Brien",
    role: 'admin',
    active: 1,
    password_hash: 'h',
  } as const
  await db
    .insertInto('users')
    .values({ ...user, id: 'u', username: 'u', username_key: 'u', created_at: 1_800_000_000_123 })
    .execute()
  await db
    .insertInto('sessions')
    .values({ id: 's', user_id: 'u', created_at: 0, expires_at: 4_000_000_000_000, source_ip: '', user_agent: '' })
    .execute()
  await db
    .insertInto('gateways')
    .values({
      id: 'g',
      kind: 'enrolled',
      name: 'g',
      name_key: 'g',
      location: '',
      description: 'two\nlines',
      device_token: 't',
      ...ownedBy('u'),
      wireguard_public_key: 'k',
      preshared_key: '',
      address: '10.100.0.2',
      created_at: 1,
    })
    .execute()
  const entries = Array.from({ length: 1_234 }, (_, i) => ({ at: i, type: 'info' as const, message: `entry ${i}` }))
  for (let i = 0; i < entries.length; i += 100)
    await db
      .insertInto('activity')
      .values(entries.slice(i, i + 100))
      .execute()
  await db.insertInto('audit').values(auditEntry('backed up')).execute()
  await db.insertInto('secrets').values({ name: 'identity-seed', value: 'seed' }).execute()
}

async function contentOf(db: Db) {
  return {
    users: await db.selectFrom('users').selectAll().execute(),
    gateways: await db.selectFrom('gateways').selectAll().execute(),
    activity: await db.selectFrom('activity').selectAll().orderBy('id').execute(),
    audit: await db.selectFrom('audit').selectAll().execute(),
    secrets: await db.selectFrom('secrets').selectAll().execute(),
  }
}

const journeys = testEngines.flatMap((from) => testEngines.map((to) => [from, to] as const))

describe.each(journeys)('a backup of %s restored on %s', (from, to) => {
  test('is identical, replaces the old database, and new rows get new ids', async () => {
    const [source, target] = [await createTestDatabase(from), await createTestDatabase(to)]
    const file = newFile()
    const before = await openDatabase({ url: source.url })
    await fill(before.db)
    const content = await contentOf(before.db)
    await backupDatabase(source.url, file)
    await before.close()
    const old = await openDatabase({ url: target.url })
    await old.db.insertInto('settings').values({ name: 'old', value: '1' }).execute()
    await old.db.insertInto('audit').values(auditEntry('replaced')).execute()
    await old.close()

    const { replaced } = await restoreDatabase(target.url, file)
    const after = await openDatabase({ url: target.url })
    expect(await contentOf(after.db)).toEqual(content)
    expect(await after.db.selectFrom('settings').selectAll().execute()).toEqual([])
    expect(await after.db.selectFrom('sessions').select('id').execute(), 'nobody is signed in').toEqual([])
    const { id } = await after.db
      .insertInto('activity')
      .values({ at: 0, type: 'info', message: 'next' })
      .returning('id')
      .executeTakeFirstOrThrow()
    expect(id).toBe(1_235)
    await expect(after.db.deleteFrom('audit').execute()).rejects.toThrow('entries are kept')
    await after.close()
    const kept = replaced && new DatabaseSync(replaced).prepare('select name from settings').all().length
    expect(kept).toBe(to === 'postgres' ? undefined : 1)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await Promise.all([source.remove(), target.remove()])
  })
})

describe.each(testEngines)('backups on %s', (engine) => {
  test('show one moment while others write', async () => {
    const { url, remove } = await createTestDatabase(engine)
    const { db, close } = await openDatabase({ url })
    const put = (transaction: Db, name: string) =>
      transaction
        .insertInto('settings')
        .values({ name, value: 'x'.repeat(500) })
        .execute()
    const over = new AbortController()
    let written = 0
    const writing = (async () => {
      for (; !over.signal.aborted; written++, await sleep(1))
        await db.transaction().execute(async (transaction) => {
          await put(transaction, `left ${written}`)
          await put(transaction, `right ${written}`)
        })
    })()
    const taken: string[] = []
    for (let i = 0; i < 5; i++) {
      const file = newFile()
      await backupDatabase(url, file)
      taken.push(file)
      const writtenBefore = written
      await expect.poll(() => written).toBeGreaterThan(writtenBefore)
    }
    over.abort()
    await writing
    await close()
    const counts = taken.map((file) => {
      const names = new DatabaseSync(file)
        .prepare('select name from settings')
        .all()
        .map((row) => String(row['name']))
      expect(names.filter((name) => name.startsWith('left')).length).toBe(names.length / 2)
      return names.length
    })
    expect(counts.at(-1)).toBeGreaterThan(counts[0]!)
    await remove()
  })

  test('never overwrite a file, and a damaged or foreign one is refused and changes nothing', async () => {
    const { url, remove } = await createTestDatabase(engine)
    const { db, close } = await openDatabase({ url })
    await fill(db)
    const content = await contentOf(db)
    const file = newFile()
    await backupDatabase(url, file)
    await expect(backupDatabase(url, file)).rejects.toThrow('exists already')
    const nowhere = join(dir, 'no-folder', 'file')
    await expect(backupDatabase(url, nowhere)).rejects.toThrow(
      `${nowhere} cannot be written: there is no such file or folder (ENOENT).`,
    )
    await expect(backupDatabase(url, join(file, 'in-a-file'))).rejects.toThrow(
      'a part of its path is no folder (ENOTDIR)',
    )
    await expect(restoreDatabase(url, dir)).rejects.toThrow(`${dir} cannot be read: it is a folder (EISDIR).`)
    await close()

    const damaged = newFile()
    writeFileSync(damaged, 'no database at all, though long enough to be looked at'.repeat(100))
    const foreign = newFile()
    new DatabaseSync(foreign).exec('create table other (a)')
    for (const bad of [damaged, foreign, join(dir, 'missing')])
      await expect(restoreDatabase(url, bad)).rejects.toThrow(bad)
    const newer = newFile()
    await backupDatabase(url, newer)
    new DatabaseSync(newer).exec("insert into migrations values ('999-future', 0)")
    await expect(restoreDatabase(url, newer)).rejects.toThrow('999-future')

    const again = await openDatabase({ url })
    expect(await contentOf(again.db)).toEqual(content)
    await again.close()
    await remove()
  })

  test('a database has one hub at a time, and is free again when that hub ends', async () => {
    const { url, remove } = await createTestDatabase(engine)
    const lock = await lockDatabase(url)
    await expect(lockDatabase(url, { patienceMs: 300 })).rejects.toThrow(/Another hub is running .*HUB_DATA/)
    await lock.release()
    await (await lockDatabase(url)).release()
    await remove()
  })
})

test.skipIf(!hasPostgres)(
  'a hub whose PostgreSQL connection was cut takes the lock again, or learns that another hub has it',
  async () => {
    const { url, remove } = await createTestDatabase('postgres')
    const { db, close } = await openDatabase({ url })
    const holders = async () => {
      const { rows } = await sql<{ pid: number }>`
      select pid from pg_locks join pg_database on pg_database.oid = database
      where locktype = 'advisory' and datname = current_database()`.execute(db)
      return rows.map(({ pid }) => pid)
    }
    const takenOver = Promise.withResolvers<void>()
    const lock = await lockDatabase(url, { onTakenOver: takenOver.resolve })
    const [first] = await holders()
    await sql`select pg_terminate_backend(${first})`.execute(db)
    const second = await vi.waitFor(
      async () => {
        const [holder] = await holders()
        expect(holder).toEqual(expect.any(Number))
        expect(holder).not.toBe(first)
        return holder
      },
      { timeout: 30_000 },
    )
    await db.connection().execute(async (rival) => {
      await sql`select pg_terminate_backend(${second}), pg_advisory_lock(4831208)`.execute(rival)
      await takenOver.promise
    })
    await lock.release()
    await close()
    await remove()
  },
)

describe.each(testEngines)('before a migration of %s', (engine) => {
  const add = (name: string) => ({
    name,
    up: async (db: Kysely<unknown>) => {
      await sql`create table ${sql.table(`made_by_${name}`)} (a integer)`.execute(db)
      await sql`insert into ${sql.table(`made_by_${name}`)} values (${sql.lit(Number(name))})`.execute(db)
    },
  })

  test('the old database is backed up, five backups are kept, and a new database needs none', async () => {
    const copiesDir = join(dir, `before-migrating-${engine}`)
    const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
    const migrations = [add('001')]
    const open = async () => (await openDatabase({ url, copiesDir, migrations: [...migrations] })).close()
    await open()
    await open()
    expect(existsSync(copiesDir)).toBe(false)
    for (let i = 2; i < 9; i++) {
      migrations.push(add(`00${i}`))
      await open()
    }
    const kept = readdirSync(copiesDir).toSorted()
    expect(kept).toHaveLength(5)
    for (const copy of kept) expect(statSync(join(copiesDir, copy)).mode & 0o777).toBe(0o600)
    const newest = new DatabaseSync(join(copiesDir, kept.at(-1)!))
    expect(newest.prepare('select name from migrations').all()).toHaveLength(7)
    expect(newest.prepare('select a from made_by_007').all()).toEqual([{ a: 7 }])
    newest.close()
    await remove()
  })

  test('a kept backup can be restored like any other', async () => {
    const copiesDir = join(dir, `to-restore-${engine}`)
    const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
    const before = await openDatabase({ url })
    await before.db.insertInto('settings').values({ name: 'kept', value: 'yes' }).execute()
    await before.close()
    const emptied = {
      name: '999-empties',
      up: async (db: Kysely<unknown>) => void (await sql`delete from settings`.execute(db)),
    }
    await (await openDatabase({ url, copiesDir, migrations: [...MIGRATIONS, emptied] })).close()
    const another = await createTestDatabase(engine, { isEmpty: true })
    const [copy] = readdirSync(copiesDir)
    await restoreDatabase(another.url, join(copiesDir, copy!))
    const after = await openDatabase({ url: another.url })
    expect(await after.db.selectFrom('settings').selectAll().execute()).toEqual([{ name: 'kept', value: 'yes' }])
    await after.close()
    await another.remove()
    await remove()
  })
})
