import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { openDatabase, type Database, type Engine } from '../src/database/database.ts'
import { startPostgres } from './postgres.ts'

/** For `describe.each(testEngines)('… on %s', (engine) => …)`: the database suite runs on both. */
export const testEngines: Engine[] = ['sqlite', 'postgres']

let postgres: ReturnType<typeof startPostgres> | undefined
let databases = 0

afterAll(async () => {
  await (await postgres)?.stop()
})

/** The address of a new, empty database; `remove` its files when done. */
export async function createTestDatabase(engine: Engine): Promise<{ url: string; remove(): Promise<void> }> {
  if (engine === 'sqlite') {
    const dir = mkdtempSync(join(tmpdir(), 'hub-sqlite-'))
    return {
      url: `sqlite:${join(dir, 'hub.sqlite')}`,
      remove: async () => rmSync(dir, { recursive: true, force: true }),
    }
  }
  postgres ??= startPostgres()
  const { url } = await postgres
  const name = `test_${++databases}`
  const client = new Client(url('postgres'))
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  return { url: url(name), remove: async () => {} }
}

/** The PostgreSQL of this test file, which has a database already. */
export async function restartTestPostgres(): Promise<void> {
  await (await postgres)?.restart()
}

/** Runs `work` while that PostgreSQL is away. */
export async function pauseTestPostgres(work: () => Promise<void>): Promise<void> {
  const server = await postgres
  await server?.pause()
  try {
    await work()
  } finally {
    await server?.resume()
  }
}

/** A migrated database of the test's own; `close` also removes its files. */
export async function openTestDatabase(engine: Engine): Promise<Database> {
  const { url, remove } = await createTestDatabase(engine)
  const database = await openDatabase({ url })
  return {
    ...database,
    close: async () => {
      await database.close()
      await remove()
    },
  }
}
