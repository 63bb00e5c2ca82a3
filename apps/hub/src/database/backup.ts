/**
 * Backups of the whole database in one file. The file is a SQLite database with the hub's tables, whichever engine it
 * came from, so a backup can be restored on the other engine too. It holds the hub's keys, and only its owner can read
 * it. Called by the commands of cli/.
 */
import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, openSync } from 'node:fs'
import { renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { NO_PROGRESS, type Progress } from '@hedgerow/http'
import { sql, type Kysely, type Transaction } from 'kysely'
import { ConfigError } from '../config.ts'
import { fileProblem } from '../kernel/file-problem.ts'
import { openDatabase } from './database.ts'
import { engineOf } from './engine.ts'
import { copyTables, createRowCount, insertRows, ROWS_AT_ONCE, tablesInOrder, type AnyTables } from './postgres-copy.ts'
import { makePrivateFolder } from './private-files.ts'
import { replaceSqlite } from './replace-sqlite.ts'
import { copySqlite, runInThread } from './sqlite-copy.ts'
import { writeRefusal } from './storage-errors.ts'

/** A consistent copy of the database at `url` into `file`, which must not exist; the hub may run meanwhile. */
export async function backupDatabase(url: string, file: string, progress = NO_PROGRESS): Promise<void> {
  if (existsSync(file)) throw new ConfigError([`${file} exists already. Name a new file.`])
  await writeWhole(file, async (unfinished) => {
    if (engineOf(url) === 'sqlite') await copySqlite(url.slice('sqlite:'.length), unfinished, progress)
    else await copyPostgres(url, unfinished, progress)
  })
}

/**
 * Replaces the database at `url`, which no hub may use (lock.ts), by the backup in `file`: all of it or nothing.
 * Returns where the old database is kept, if it was a file.
 */
export async function restoreDatabase(
  url: string,
  file: string,
  progress = NO_PROGRESS,
): Promise<{ replaced: string | undefined }> {
  const target = engineOf(url) === 'sqlite' ? url.slice('sqlite:'.length) : undefined
  await checkBackup(file, progress)
  const copy = target === undefined ? `${file}.restoring` : `${target}.restoring`
  if (target !== undefined) makePrivateFolder(dirname(target))
  removeSqlite(copy)
  try {
    progress.show('Copying the backup')
    named(copy, () => copyFileSync(file, copy))
    chmodSync(copy, 0o600)
    // Migrated like any other, so that a backup of an older hub fits; a newer hub's is refused by name.
    const source = await openDatabase({ url: `sqlite:${copy}`, progress }).catch((error: unknown) => {
      throw error instanceof ConfigError ? new ConfigError([`${file} cannot be restored. ${error.message}`]) : error
    })
    try {
      // Otherwise sessions and tokens of that time would be valid again, also those that were ended since.
      await source.db.deleteFrom('sessions').execute()
      await source.db.deleteFrom('api_tokens').execute()
      await source.db.deleteFrom('password_resets').execute()
      await source.db.deleteFrom('sign_in_challenges').execute()
      if (target === undefined) await fillPostgres(source.db.withTables<AnyTables>(), url, progress)
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
  named(file, () => {
    rmSync(unfinished, { force: true })
    closeSync(openSync(unfinished, 'wx', 0o600))
  })
  try {
    await write(unfinished)
    named(file, () => {
      const descriptor = openSync(unfinished, 'r')
      fsyncSync(descriptor)
      closeSync(descriptor)
      renameSync(unfinished, file)
    })
  } catch (error) {
    throw isFull(error, unfinished) ? new ConfigError([`${file} cannot be written: the disk is full (ENOSPC).`]) : error
  } finally {
    removeSqlite(unfinished)
  }
}

/** PostgreSQL's own disk may be full too. */
function isFull(error: unknown, file: string): boolean {
  const { errcode } = ((error as Error).cause ?? error) as { errcode?: unknown }
  return writeRefusal(error) === 'full' && errcode !== undefined && existsSync(file)
}

/** The operator has to fix a file that cannot be written, so the error names it. */
function named(file: string, make: () => void): void {
  try {
    make()
  } catch (error) {
    throw new ConfigError([`${file} cannot be written: ${fileProblem(error)}.`])
  }
}

async function copyPostgres(url: string, file: string, progress: Progress): Promise<void> {
  const source = await openDatabase({ url, mayMigrate: false })
  const target = await openDatabase({ url: `sqlite:${file}` })
  try {
    await source.db
      .withTables<AnyTables>()
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((reading) => copyTables(reading, target.db.withTables<AnyTables>(), progress))
  } finally {
    await source.close()
    await target.close()
  }
}

async function fillPostgres(from: Kysely<AnyTables>, url: string, progress: Progress): Promise<void> {
  const target = await openDatabase({ url })
  const to = target.db.withTables<AnyTables>()
  try {
    const tables = await tablesInOrder(from)
    const count = createRowCount('Restoring', await countRows(from, tables), progress)
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
          count(rows.length)
        }
      }
      await continueSequences(writing)
      for (const table of tables) await sql`alter table ${sql.table(table)} enable trigger user`.execute(writing)
    })
  } finally {
    await target.close()
  }
}

async function countRows(db: Kysely<AnyTables>, tables: readonly string[]): Promise<number> {
  let count = 0
  for (const table of tables) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db)
    count += rows[0]!.count
  }
  return count
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

async function checkBackup(file: string, progress: Progress): Promise<void> {
  const problem = readProblem(file)
  if (problem) throw new ConfigError([`${file} cannot be read: ${problem}.`])
  const check = findProblem(file).catch(({ message }: Error) => message)
  const found = await progress.during('Checking the backup', (seconds) => `${seconds} s`, check)
  if (found) throw new ConfigError([`${file} is no usable backup of a hub: ${found}.`])
}

function readProblem(file: string): string | undefined {
  try {
    closeSync(openSync(file, 'r'))
    return statSync(file).isDirectory() ? 'it is a folder (EISDIR)' : undefined
  } catch (error) {
    return fileProblem(error)
  }
}

async function findProblem(file: string): Promise<string | undefined> {
  const [finding] = await runInThread(file, 'pragma integrity_check(1)', { readOnly: true })
  if (finding?.['integrity_check'] !== 'ok') return String(finding?.['integrity_check'])
  const tables = await runInThread(file, `select 1 from sqlite_schema where name = 'migrations'`, { readOnly: true })
  return tables.length > 0 ? undefined : 'it holds none of its tables'
}

function removeSqlite(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}
