/**
 * Opens the hub's database, a SQLite file or PostgreSQL, and migrates it. Callers see the same tables and the same
 * values from both: numbers for counts and times, 0 or 1 for booleans, text for the rest. A database that does not
 * answer is `storage_unavailable`. Called by hub/storage.ts, by the commands of cli/ and, for tests, by
 * testing/databases.ts.
 */
import { basename, dirname } from 'node:path'
import { NO_PROGRESS, type Progress } from '@hedgerow/http'
import { Kysely, sql, type Dialect, type Transaction } from 'kysely'
import { ConfigError } from '../config.ts'
import { engineOf, type Engine } from './engine.ts'
import { keepMigrationBackup } from './migration-backups.ts'
import { EmptyDatabaseError, migrate, type Migration } from './migrations.ts'
import { makePrivateFile, makePrivateFolder } from './private-files.ts'
import { copyTables, type AnyTables } from './postgres-copy.ts'
import { copySqlite } from './sqlite-copy.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { writeRefusal, type WriteRefusal } from './storage-errors.ts'
import type { Tables } from './tables.ts'

export const UTF8 = 'UTF8'
export const MAKE_UTF8 =
  "Make another with: create database NAME owner ROLE encoding 'UTF8' template template0. What is in this one " +
  'moves there with the commands backup and restore.'

export type Database = { db: Kysely<Tables>; engine: Engine; close(): Promise<void> }

export type DatabaseConfig = {
  url: string
  /** The folder for a backup before each migration; no backup when unset. */
  copiesDir?: string
  /** When false, refuses a database that is not up to date: another hub may be running on it. */
  mayMigrate?: boolean
  migrations?: readonly Migration[]
  /** Shows how far a migration is. */
  progress?: Progress
  /** Called when a statement failed because the database cannot write. */
  onWriteRefused?: (refusal: WriteRefusal) => void
}

export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  const engine = engineOf(config.url)
  const { onWriteRefused, progress = NO_PROGRESS } = config
  const db = new Kysely<unknown>({
    log: (event) => {
      const refusal = event.level === 'error' ? writeRefusal(event.error) : undefined
      if (refusal) onWriteRefused?.(refusal)
    },
    dialect:
      engine === 'sqlite' ? sqliteDialect(createFile(config.url.slice('sqlite:'.length))) : await postgres(config.url),
  })
  try {
    const refuse = async () => engine === 'postgres' && (await refuseOtherEncodings(db))
    // One that an older hub took is still looked at and backed up.
    if (config.mayMigrate !== false) await refuse()
    await migrate(db, engine, {
      ...(config.migrations && { migrations: config.migrations }),
      mayMigrate: config.mayMigrate !== false,
      progress,
      async beforeMigrating(transaction, applied) {
        if (config.copiesDir !== undefined)
          await copyBeforeMigrating({ url: config.url, folder: config.copiesDir, progress }, transaction, applied)
      },
    }).catch(async (error: unknown) => {
      if (error instanceof EmptyDatabaseError) await refuse()
      throw error
    })
  } catch (error) {
    await db.destroy()
    throw error
  }
  return { db: db.withTables<Tables>(), engine, close: () => db.destroy() }
}

async function copyBeforeMigrating(
  { url, folder, progress }: { url: string; folder: string; progress: Progress },
  transaction: Transaction<unknown>,
  applied: readonly Migration[],
): Promise<void> {
  const now = new Date()
  if (engineOf(url) === 'sqlite') {
    const path = url.slice('sqlite:'.length)
    return keepMigrationBackup({ folder, name: basename(path), now }, (file) => copySqlite(path, file, progress))
  }
  return keepMigrationBackup({ folder, name: 'postgres', now }, async (file) => {
    const target = await openDatabase({ url: `sqlite:${file}`, migrations: applied })
    try {
      await copyTables(transaction.withTables<AnyTables>(), target.db.withTables<AnyTables>(), progress)
    } finally {
      await target.close()
    }
  })
}

/** The driver is loaded only where it is used: it takes memory. */
async function postgres(url: string): Promise<Dialect> {
  const { postgresDialect } = await import('./postgres-dialect.ts')
  return postgresDialect(url)
}

/** In another encoding than UTF8, names and texts that people write would be refused one by one. */
async function refuseOtherEncodings(db: Kysely<unknown>): Promise<void> {
  const encoding = await encodingOf(db)
  if (encoding !== UTF8)
    throw new ConfigError([
      `The database (HUB_DATABASE_URL) has the encoding ${encoding}, and the hub needs ${UTF8}. ${MAKE_UTF8}`,
    ])
}

/** Of a PostgreSQL database. */
export async function encodingOf(db: Kysely<Tables> | Kysely<unknown>): Promise<string> {
  const { rows } = await sql<{ encoding: string }>`select current_setting('server_encoding') as encoding`.execute(db)
  return rows[0]!.encoding
}

/** Throws `storage_unavailable` when the database does not answer. */
export async function checkDatabase(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db)
}

function createFile(path: string): string {
  makePrivateFolder(dirname(path))
  makePrivateFile(path)
  return path
}
