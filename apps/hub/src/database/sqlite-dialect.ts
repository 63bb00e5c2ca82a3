import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { storageError } from './storage-errors.ts'

const STATEMENTS_KEPT = 256
const BUSY_TIMEOUT_MS = 5_000

/**
 * Kysely on the `node:sqlite` that comes with Node. There is one connection (the adapter says so), and Kysely lends it
 * to one query or one whole transaction at a time, so concurrent handlers never share a transaction. A query on `db`
 * that is awaited inside a transaction waits for ever: use the transaction.
 */
export function sqliteDialect(path: string): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(path),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

function createDriver(path: string): Driver {
  let database: DatabaseSync | undefined
  let connection: DatabaseConnection | undefined

  const run = (lent: DatabaseConnection, statement: string) => lent.executeQuery(CompiledQuery.raw(statement))
  return {
    init: async () => {
      try {
        database = openFile(path)
      } catch (error) {
        throw storageError(error)
      }
      connection = createConnection(database)
    },
    acquireConnection: async () => {
      if (!connection) throw new Error('The database is not open')
      return connection
    },
    beginTransaction: async (lent, settings: TransactionSettings) => {
      await run(lent, settings.accessMode === 'read only' ? 'begin' : 'begin immediate')
    },
    commitTransaction: async (lent) => {
      await run(lent, 'commit')
    },
    rollbackTransaction: async (lent) => {
      // SQLite has already rolled back after a full disk or an I/O error.
      if (database?.isTransaction) await run(lent, 'rollback')
    },
    releaseConnection: async () => {},
    destroy: async () => database?.close(),
  }
}

function openFile(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
  // Only before the first page: then pages of deleted rows can be given back to the disk. Later it takes a lock.
  if (database.prepare('pragma page_count').get()?.['page_count'] === 0)
    database.exec('pragma auto_vacuum = incremental')
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma trusted_schema = off')
  return database
}

function createConnection(database: DatabaseSync): DatabaseConnection {
  const statements = new Map<string, { statement: StatementSync; returnsRows: boolean }>()

  function prepare(text: string) {
    const cached = statements.get(text)
    if (cached) return cached
    const statement = database.prepare(text)
    const prepared = { statement, returnsRows: statement.columns().length > 0 }
    if (statements.size >= STATEMENTS_KEPT) statements.clear()
    statements.set(text, prepared)
    return prepared
  }

  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      try {
        const { statement, returnsRows } = prepare(query.sql)
        const parameters = query.parameters as SQLInputValue[]
        if (returnsRows) return { rows: statement.all(...parameters) as R[] }
        const { changes, lastInsertRowid } = statement.run(...parameters)
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
      } catch (error) {
        throw storageError(error)
      }
    },
    streamQuery() {
      throw new Error('Reading row by row is not supported on SQLite')
    },
  }
}
