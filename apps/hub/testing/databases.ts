import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { inject } from 'vitest'
import { openDatabase, type Database } from '../src/database/database.ts'
import type { Engine } from '../src/database/engine.ts'
import { openRecords } from '../src/followers/followers.ts'
import type { Template } from './global-setup.ts'
import { addressOf, runStatement } from './postgres.ts'

/** False in a run of `npm run test:quick`, which has no PostgreSQL. */
export const hasPostgres = inject('postgres') !== undefined

/** For `describe.each(testEngines)('… on %s', (engine) => …)`: the database suite runs on both. */
export const testEngines: Engine[] = hasPostgres ? ['sqlite', 'postgres'] : ['sqlite']

type TestDatabase = { url: string; remove(): Promise<void> }

/** The address of a new database, a copy of one of the run's, or an empty one; call `remove` at the end. */
export async function createTestDatabase(
  engine: Engine,
  { isEmpty = false, template = 'migrated' }: { isEmpty?: boolean; template?: Template } = {},
): Promise<TestDatabase> {
  if (engine === 'sqlite') return createFile(isEmpty ? undefined : template)
  return createInServer(isEmpty ? 'template0' : template)
}

/**
 * A migrated PostgreSQL database with its tables in that folder, on a small disk for example. The server must own the
 * folder.
 */
export async function createTestDatabaseIn(folder: string): Promise<TestDatabase> {
  const place = `place_${randomBytes(8).toString('hex')}`
  await administer(`create tablespace ${place} location '${folder}'`)
  const { url, remove } = await createInServer('migrated', place)
  return {
    url,
    remove: async () => {
      await remove()
      await administer(`drop tablespace ${place}`)
    },
  }
}

/** Decoded once for all the hubs of a process. */
const files = new Map<Template, Buffer>()
const fileOf = (template: Template) =>
  files.getOrInsertComputed(template, () => Buffer.from(inject('sqlite')[template], 'base64'))

function createFile(template: Template | undefined): TestDatabase {
  const dir = mkdtempSync(join(tmpdir(), 'hub-sqlite-'))
  const file = join(dir, 'hub.sqlite')
  if (template) writeFileSync(file, fileOf(template), { mode: 0o600 })
  return { url: `sqlite:${file}`, remove: async () => rmSync(dir, { recursive: true, force: true }) }
}

async function createInServer(template: Template | 'template0', place = 'pg_default'): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  // Copying files is faster than writing each page to the log.
  await administer(`create database ${name} template ${template} strategy file_copy tablespace ${place}`)
  return {
    url: addressOf(server().folder, name),
    remove: () => administer(`drop database if exists ${name} with (force)`),
  }
}

const administer = (statement: string) => runStatement(addressOf(server().folder, 'postgres'), statement)

function server() {
  const its = inject('postgres')
  if (!its) throw new Error('This run has no PostgreSQL: skip the test unless `hasPostgres`')
  return its
}

/** A migrated database for one test; `close` also removes it. */
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
