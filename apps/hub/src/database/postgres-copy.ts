import type { Progress } from '@hedgerow/http'
import { sql, type Kysely, type Transaction } from 'kysely'

/** Tables by name only: the copy takes every table it finds. */
export type AnyTables = Record<string, Record<string, unknown>>

export const ROWS_AT_ONCE = 500
/** The smaller of the two engines' limits of variables in a statement. */
const VARIABLES_LIMIT = 30_000

/**
 * Copies all tables from a PostgreSQL transaction into a SQLite database with tables of the same names, in one file.
 */
export async function copyTables(
  reading: Transaction<AnyTables>,
  to: Kysely<AnyTables>,
  progress: Progress,
): Promise<void> {
  await sql`pragma foreign_keys = off`.execute(to)
  // Before its transaction: inside it there would be no second connection to query.
  const tables = await tablesInOrder(to)
  const count = createRowCount('Copying the database', await roughCount(reading), progress)
  await to.transaction().execute(async (writing) => {
    for (const table of tables) {
      await writing.deleteFrom(table).execute()
      for await (const rows of rowsOfPostgres(reading, table)) {
        await insertRows(writing, table, rows)
        count(rows.length)
      }
    }
  })
  await sql`pragma journal_mode = delete`.execute(to)
}

/** By the server's statistics, because counting takes as long as copying. */
async function roughCount(reading: Transaction<AnyTables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(greatest(reltuples, 0)), 0)::double precision as count from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(reading)
  return rows[0]?.count ?? 0
}

/** Returns a function that is told how many more rows were copied. */
export function createRowCount(what: string, total: number, progress: Progress): (rows: number) => void {
  let done = 0
  return (rows) => {
    done += rows
    progress.show(what, total > done ? `${done} of about ${total} rows` : `${done} rows`)
  }
}

async function* rowsOfPostgres(reading: Transaction<AnyTables>, table: string) {
  await sql`declare backup_rows no scroll cursor for select * from ${sql.table(table)}`.execute(reading)
  for (;;) {
    const { rows } = await sql<Record<string, unknown>>`fetch ${sql.lit(ROWS_AT_ONCE)} from backup_rows`.execute(
      reading,
    )
    if (rows.length === 0) break
    yield rows
  }
  await sql`close backup_rows`.execute(reading)
}

export async function insertRows(
  to: Transaction<AnyTables>,
  table: string,
  rows: Record<string, unknown>[],
): Promise<void> {
  const atOnce = Math.max(1, Math.floor(VARIABLES_LIMIT / Object.keys(rows[0] ?? {}).length))
  for (let start = 0; start < rows.length; start += atOnce)
    await to
      .insertInto(table)
      .values(rows.slice(start, start + atOnce))
      .execute()
}

/** The tables of a SQLite database, each after those that it refers to. */
export async function tablesInOrder(db: Kysely<AnyTables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`.execute(db)
  const ordered = new Set<string>()
  const add = async (name: string): Promise<void> => {
    if (ordered.has(name)) return
    const { rows: references } = await sql<{ table: string }>`
      select "table" from pragma_foreign_key_list(${name})`.execute(db)
    for (const { table } of references) if (table !== name) await add(table)
    ordered.add(name)
  }
  for (const { name } of rows) await add(name)
  return [...ordered]
}
