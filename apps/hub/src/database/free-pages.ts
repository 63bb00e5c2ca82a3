/** Pages that deleted rows left in a SQLite file. New rows are stored there; the disk has them only when given back. */
import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import { inTransaction } from './transaction.ts'

/** How many pages `giveBack` gives back to the disk: 1 MiB, because it blocks other statements meanwhile. */
const PAGES_GIVEN_BACK = 256
/** SQLite's number of `auto_vacuum = incremental`. */
const INCREMENTAL = 2

/** `mayGiveBack` is false in a database that an earlier version made. */
export async function freePages(db: Kysely<Tables>): Promise<{ bytes: number; mayGiveBack: boolean }> {
  const { rows } = await sql<{ bytes: number; mode: number }>`select freelist_count * page_size as bytes,
    auto_vacuum as mode from pragma_freelist_count, pragma_page_size, pragma_auto_vacuum`.execute(db)
  return { bytes: rows[0]?.bytes ?? 0, mayGiveBack: rows[0]?.mode === INCREMENTAL }
}

/** Gives some free pages to the disk, for other programs. */
export async function giveBack(db: Kysely<Tables>): Promise<void> {
  await inTransaction(db, async (transaction) => {
    // One statement gives one page back, because the driver runs it for one step.
    for (let page = 0; page < PAGES_GIVEN_BACK; page += 1) await sql`pragma incremental_vacuum(1)`.execute(transaction)
  })
  await sql`pragma wal_checkpoint(truncate)`.execute(db)
}
