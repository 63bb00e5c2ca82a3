import { Client, Pool, types, type PoolClient } from 'pg'
import {
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type Dialect,
  type PostgresDialectConfig,
} from 'kysely'
import { connectionError, nextEndpoint, endpointsOf, type Endpoint } from './postgres-endpoints.ts'
import { storageError } from './storage-errors.ts'

const INT8 = types.builtins.INT8
const NUMERIC = types.builtins.NUMERIC
const CONNECTIONS = 10
/** pg's message when no connection became free. */
const ALL_IN_USE = 'timeout exceeded when trying to connect'

/** Kysely on `pg`, with counts and sums as numbers, and lost connections as `storage_unavailable`. */
export function postgresDialect(url: string): Dialect {
  const { all, check } = endpointsOf(url)
  let endpoint = all[0]!
  const numbers = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format),
  }
  const pool = new Pool({
    max: CONNECTIONS,
    connectionTimeoutMillis: endpoint.config.connectionTimeoutMillis,
    onConnect: check,
    Client: class extends Client {
      constructor() {
        super({ ...endpoint.config, types: numbers })
      }
    },
  })
  // A connection that the server ends fails its next query, or is replaced when idle; that is enough. Without
  // listeners, also on connections in use, its end would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  /** By the endpoint that worked last, or else by the next that works. */
  async function connect(): Promise<PoolClient> {
    for (const failures = new Map<Endpoint, unknown>(); ;) {
      const tried = endpoint
      try {
        return await pool.connect()
      } catch (error) {
        if ((error as Error).message === ALL_IN_USE) throw error
        failures.set(tried, error)
        const next = nextEndpoint(tried, error, all, failures)
        if (!next) throw connectionError(failures)
        if (endpoint === tried) endpoint = next
      }
    }
  }
  const config: PostgresDialectConfig = { pool: { connect, end: () => pool.end(), options: {} } }
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
