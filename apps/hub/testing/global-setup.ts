/**
 * Runs once before the hub's tests: starts the run's one PostgreSQL and migrates one database of each engine, which
 * tests copy instead of migrating their own (databases.ts).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../src/database/database.ts'
import { askPostgres, startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The bytes, in base64, of the file of a database that is migrated and has no rows. */
    migratedSqlite: string
    /** Undefined in a run without PostgreSQL. `template` names a database that is migrated and has no rows. */
    postgres: { folder: string; template: string } | undefined
  }
}

const TEMPLATE = 'migrated'

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  project.provide('migratedSqlite', await migrateFile())
  if (process.env['TEST_ENGINES'] === 'sqlite') return undefined
  const server = await startPostgres()
  await askPostgres(server.url('postgres'), `create database ${TEMPLATE}`)
  await (await openDatabase({ url: server.url(TEMPLATE) })).close()
  project.provide('postgres', { folder: server.folder, template: TEMPLATE })
  return server.stop
}

async function migrateFile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-template-'))
  try {
    const file = join(folder, 'hub.sqlite')
    await (await openDatabase({ url: `sqlite:${file}` })).close()
    return readFileSync(file, 'base64')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
