import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { inject } from 'vitest'
import { openDatabase, type Database } from '../src/database/database.ts'
import type { Engine } from '../src/database/engine.ts'
import { openRecords } from '../src/followers/followers.ts'
import { addressOf, askPostgres } from './postgres.ts'

/** A run of `npm run test:quick` has no PostgreSQL: a test that is not made for each engine asks here. */
export const hasPostgres = inject('postgres') !== undefined

/** For `describe.each(testEngines)('… on %s', (engine) => …)`: the database suite runs on both. */
export const testEngines: Engine[] = hasPostgres ? ['sqlite', 'postgres'] : ['sqlite']

type TestDatabase = { url: string; remove(): Promise<void> }

/** The address of a new database, a copy of the run's migrated one, or empty; `remove` it when done. */
export async function createTestDatabase(engine: Engine, { isEmpty = false } = {}): Promise<TestDatabase> {
  return engine === 'sqlite' ? createFile(isEmpty) : createInServer(isEmpty)
}

function createFile(isEmpty: boolean): TestDatabase {
  const dir = mkdtempSync(join(tmpdir(), 'hub-sqlite-'))
  const file = join(dir, 'hub.sqlite')
  if (!isEmpty) writeFileSync(file, Buffer.from(inject('migratedSqlite'), 'base64'), { mode: 0o600 })
  return { url: `sqlite:${file}`, remove: async () => rmSync(dir, { recursive: true, force: true }) }
}

async function createInServer(isEmpty: boolean): Promise<TestDatabase> {
  const server = inject('postgres')
  if (!server) throw new Error('This run has no PostgreSQL: skip the test unless `hasPostgres`')
  const name = `test_${randomBytes(8).toString('hex')}`
  const administration = addressOf(server.folder, 'postgres')
  await askPostgres(administration, `create database ${name} template ${isEmpty ? 'template0' : server.template}`)
  return {
    url: addressOf(server.folder, name),
    remove: () => askPostgres(administration, `drop database if exists ${name} with (force)`),
  }
}

/** A migrated database of the test's own; `close` also removes it. */
export async function openTestDatabase(engine: Engine): Promise<Database> {
  const { url, remove } = await createTestDatabase(engine)
  const database = await openDatabase({ url })
  openRecords(database.db, { log: pino({ level: 'silent' }) })
  return {
    ...database,
    close: async () => {
      await database.close()
      await remove()
    },
  }
}
