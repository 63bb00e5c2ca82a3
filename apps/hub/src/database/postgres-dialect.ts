import { Pool, types } from 'pg'
import {
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type Dialect,
  type PostgresDialectConfig,
} from 'kysely'
import { storageError } from './storage-errors.ts'

const INT8 = types.builtins.INT8
const NUMERIC = types.builtins.NUMERIC
const CONNECT_TIMEOUT_MS = 5_000
const CONNECTIONS = 10

/** Kysely on `pg`, with counts and sums as numbers, and lost connections as `storage_unavailable`. */
export function postgresDialect(url: string): Dialect {
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format),
    },
  })
  // A connection that the server ends fails its next query, or is replaced when idle; that is enough. Without
  // listeners, also on connections in use, its end would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  const config: PostgresDialectConfig = { pool }
  const dialect = new PostgresDialect(config)
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new ReportingDriver(config),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
}

class ReportingDriver extends PostgresDriver {
  readonly #reporting = new WeakSet<DatabaseConnection>()

  override async acquireConnection(
    ...options: Parameters<PostgresDriver['acquireConnection']>
  ): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection(...options).catch((error: unknown) => {
      throw storageError(error)
    })
    if (!this.#reporting.has(connection)) {
      this.#reporting.add(connection)
      // The driver finds its state on this object, so it gets a new method instead of a wrapper.
      const execute = connection.executeQuery.bind(connection)
      connection.executeQuery = (...query) =>
        execute<never>(...query).catch((error: unknown) => {
          throw storageError(error)
        })
    }
    return connection
  }
}
