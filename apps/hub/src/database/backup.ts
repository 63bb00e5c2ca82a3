/**
 * Backups of the whole database in one file. The file is a SQLite database with the hub's tables, whichever engine it
 * came from, so a backup can be restored on the other engine too. It holds the hub's keys, and only its owner can read
 * it. Called by the commands of cli/.
 */
import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, openSync } from 'node:fs'
import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql, type Kysely, type Transaction } from 'kysely'
import { ConfigError } from '../config.ts'
import { openDatabase } from './database.ts'
import { engineOf } from './engine.ts'
import { copyTables, insertRows, ROWS_AT_ONCE, tablesInOrder, type AnyTables } from './postgres-copy.ts'
import { makePrivateFolder } from './private-files.ts'
import { replaceSqlite } from './replace-sqlite.ts'
import { copySqlite } from './sqlite-copy.ts'

/** A consistent copy of the database at `url` into `file`, which must not exist; the hub may run meanwhile. */
export async function backupDatabase(url: string, file: string): Promise<void> {
  if (existsSync(file)) throw new ConfigError([`${file} exists already. Name a new file.`])
  await writeWhole(file, async (unfinished) => {
    if (engineOf(url) === 'sqlite') copySqlite(url.slice('sqlite:'.length), unfinished)
    else await copyPostgres(url, unfinished)
  })
}

/**
 * Replaces the database at `url`, which no hub may use (lock.ts), by the backup in `file`: all of it or nothing.
 * Returns where the old database is kept, if it was a file.
 */
export async function restoreDatabase(url: string, file: string): Promise<{ replaced: string | undefined }> {
  const target = engineOf(url) === 'sqlite' ? url.slice('sqlite:'.length) : undefined
  checkBackup(file)
  const copy = target === undefined ? `${file}.restoring` : `${target}.restoring`
  if (target !== undefined) makePrivateFolder(dirname(target))
  removeSqlite(copy)
  try {
    named(copy, () => copyFileSync(file, copy))
    chmodSync(copy, 0o600)
    // Migrated like any other, so that a backup of an older hub fits; a newer hub's is refused by name.
    const source = await openDatabase({ url: `sqlite:${copy}` }).catch((error: unknown) => {
      throw error instanceof ConfigError ? new ConfigError([`${file} cannot be restored. ${error.message}`]) : error
    })
    try {
      // Otherwise sessions of that time would be valid again, also those that were ended since.
      await source.db.deleteFrom('sessions').execute()
      await source.db.deleteFrom('sign_in_challenges').execute()
      if (target === undefined) await fillPostgres(source.db.withTables<AnyTables>(), url)
    } finally {
      await source.close()
    }
    return { replaced: target === undefined ? undefined : replaceSqlite(target, copy) }
  } finally {
    removeSqlite(copy)
  }
}

/** Writes to a temporary name, so that nobody sees half a file. */
async function writeWhole(file: string, write: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${file}.unfinished`
  rmSync(unfinished, { force: true })
  try {
    named(unfinished, () => closeSync(openSync(unfinished, 'wx', 0o600)))
    await write(unfinished)
    const descriptor = openSync(unfinished, 'r')
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(unfinished, file)
  } finally {
    removeSqlite(unfinished)
  }
}

/** The operator has to fix a file that cannot be written, so the error names it. */
function named(file: string, make: () => void): void {
  try {
    make()
  } catch (error) {
    throw new ConfigError([`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`])
  }
}

async function copyPostgres(url: string, file: string): Promise<void> {
  const source = await openDatabase({ url, mayMigrate: false })
  const target = await openDatabase({ url: `sqlite:${file}` })
  try {
    await source.db
      .withTables<AnyTables>()
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((reading) => copyTables(reading, target.db.withTables<AnyTables>()))
  } finally {
    await source.close()
    await target.close()
  }
}

async function fillPostgres(from: Kysely<AnyTables>, url: string): Promise<void> {
  const target = await openDatabase({ url })
  const to = target.db.withTables<AnyTables>()
  try {
    const tables = await tablesInOrder(from)
    await to.transaction().execute(async (writing) => {
      // The audit's triggers would refuse this; whoever replaces the whole database may.
      for (const table of tables) await sql`alter table ${sql.table(table)} disable trigger user`.execute(writing)
      for (const table of tables.toReversed()) await writing.deleteFrom(table).execute()
      for (const table of tables) {
        for (let offset = 0; ; offset += ROWS_AT_ONCE) {
          const page = from
            .selectFrom(table)
            .selectAll()
            .orderBy(sql`rowid`)
            .limit(ROWS_AT_ONCE)
            .offset(offset)
          const rows = await page.execute()
          if (rows.length === 0) break
          await insertRows(writing, table, rows)
        }
      }
      await continueSequences(writing)
      for (const table of tables) await sql`alter table ${sql.table(table)} enable trigger user`.execute(writing)
    })
  } finally {
    await target.close()
  }
}

/** The next generated id follows the highest copied one. */
async function continueSequences(to: Transaction<AnyTables>): Promise<void> {
  const { rows } = await sql<{ name: string; column: string }>`
    select table_name as name, column_name as "column" from information_schema.columns
    where table_schema = current_schema() and column_default like 'nextval(%'`.execute(to)
  for (const { name, column } of rows)
    await sql`select setval(pg_get_serial_sequence(${name}, ${column}),
      coalesce((select max(${sql.ref(column)}) from ${sql.table(name)}), 0) + 1, false)`.execute(to)
}

function checkBackup(file: string): void {
  if (!existsSync(file)) throw new ConfigError([`There is no file ${file}.`])
  const problem = findProblem(file)
  if (problem) throw new ConfigError([`${file} is no usable backup of a hub: ${problem}.`])
}

function findProblem(file: string): string | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true })
    const [finding] = database.prepare('pragma integrity_check(1)').all()
    if (finding?.['integrity_check'] !== 'ok') return String(finding?.['integrity_check'])
    const has = database.prepare(`select 1 from sqlite_schema where name = 'migrations'`).get()
    return has ? undefined : 'it holds none of its tables'
  } catch (error) {
    return (error as Error).message
  } finally {
    database?.close()
  }
}

function removeSqlite(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}
