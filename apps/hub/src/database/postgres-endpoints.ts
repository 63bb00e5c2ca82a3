/** The ways in which a PostgreSQL server may be reached: each host of the address, with TLS or without. */
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, type ConnectionOptions } from 'node:tls'
import { Client, DatabaseError, type ClientBase, type ClientConfig } from 'pg'
import { ConfigError } from '../config.ts'
import { HubError } from '../kernel/hub-error.ts'
import { readPostgresAddress, type PostgresAddress, type PostgresServer } from './postgres-address.ts'

/** A connection on which nothing is sent is probed after this time, so that no firewall forgets it. */
const KEEPALIVE_MS = 10_000

export type Endpoint = { server: PostgresServer; config: ClientConfig }
export type Endpoints = { all: readonly Endpoint[]; check(client: ClientBase): Promise<void> }

/** A server that answers, and on which nothing can be written. */
class ReadOnlyServer extends Error {}

/** Throws a `ConfigError` for an address that cannot be used, or a file of it that cannot be read. */
export function endpointsOf(url: string): Endpoints {
  const address = readPostgresAddress(url)
  const { user, password, database, connectTimeoutMs, session } = address
  const modes = tlsModes(address)
  const all = address.servers.flatMap((server) => {
    // libpq encrypts nothing on a socket of this machine either, whatever the mode.
    const choices = server.host.startsWith('/') ? [false as const] : modes
    return choices.map((ssl): Endpoint => {
      const config: ClientConfig = {
        ...server,
        ...session,
        user,
        database,
        ssl,
        connectionTimeoutMillis: connectTimeoutMs,
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEPALIVE_MS,
        // Without one, pg looks in PGPASSWORD and in ~/.pgpass.
        ...(password !== undefined && { password }),
      }
      return { server, config }
    })
  })
  return {
    all,
    async check(client) {
      if (!address.mustWrite) return
      const { rows } = await client.query<{ writes: boolean }>(
        "select current_setting('transaction_read_only') = 'off' and not pg_is_in_recovery() as writes",
      )
      if (!rows[0]?.writes) throw new ReadOnlyServer('it takes no changes: it is a standby or set to read-only')
    },
  }
}

/** Connects by the first endpoint that works. The caller ends the client. */
export async function connectPostgres(url: string, more: ClientConfig = {}): Promise<Client> {
  const { all, check } = endpointsOf(url)
  const failures = new Map<Endpoint, unknown>()
  for (let endpoint = all[0]; endpoint; endpoint = nextEndpoint(endpoint, failures.get(endpoint), all, failures)) {
    const client = new Client({ ...endpoint.config, ...more })
    client.on('error', () => {})
    try {
      await client.connect()
      await check(client)
      return client
    } catch (error) {
      failures.set(endpoint, error)
      await client.end().catch(() => {})
    }
  }
  throw connectionError(failures)
}

/** The endpoint to try after that failure; undefined where none is left, or where each would fail alike. */
export function nextEndpoint(
  endpoint: Endpoint,
  error: unknown,
  all: readonly Endpoint[],
  failures: ReadonlyMap<Endpoint, unknown>,
): Endpoint | undefined {
  const at = all.indexOf(endpoint)
  const others = [...all.slice(at + 1), ...all.slice(0, at)].filter((other) => !failures.has(other))
  if (error instanceof DatabaseError) {
    // "no pg_hba.conf entry for host …, no encryption": the same server may want the opposite.
    if (error.code === '28000') return others.find(({ server }) => server === endpoint.server)
    // Starting, or full.
    if (error.code !== '57P03' && error.code !== '53300') return undefined
  }
  return isOfTls(error) ? others[0] : others.find(({ server }) => server !== endpoint.server)
}

/** What failed while TLS was agreed on; a server that cannot be reached has no second endpoint. */
function isOfTls(error: unknown): boolean {
  const { syscall, message } = error as NodeJS.ErrnoException
  return !(
    error instanceof DatabaseError ||
    error instanceof ReadOnlyServer ||
    error instanceof AggregateError ||
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    /timeout/.test(message)
  )
}

/** The server's own answer, or `storage_unavailable` with a cause in words that names the server. */
export function connectionError(failures: ReadonlyMap<Endpoint, unknown>): unknown {
  const answered = [...failures.values()].find((error) => error instanceof DatabaseError)
  if (answered && failures.size === 1) return answered
  // Of one server's ways the last says most: the earlier ones were only preferred.
  const byServer = new Map([...failures].map(([{ server }, error]) => [server, error]))
  const words = [...byServer].map(([server, error]) => `${nameOf(server)}: ${wordsOf(error)}`).join('; ')
  const [first] = failures.values()
  const { code } = first as NodeJS.ErrnoException
  const cause = Object.assign(new Error(words, { cause: first }), code !== undefined && { code })
  return new HubError('storage_unavailable', { cause })
}

const nameOf = ({ host, port }: PostgresServer): string =>
  host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host.includes(':') ? `[${host}]` : host}:${port}`

function wordsOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (/^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED)/.test(code))
    return `nobody vouches for its certificate (${message}). Name the file of the authority with sslrootcert`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return (
      `its certificate is for another name. ${message.replace(/^.*?altnames: /s, '')} Use that name, or ` +
      'sslmode=verify-ca'
    )
  if (message === 'The server does not support SSL connections') return 'it offers no TLS. See sslmode'
  // Several addresses of one name failed: the error has only a code.
  return message || code
}

/** In the order of libpq: what the mode prefers comes first. */
function tlsModes(address: PostgresAddress): (ConnectionOptions | false)[] {
  const { sslMode } = address
  if (sslMode === 'disable') return [false]
  const tls = tlsOptions(address)
  if (sslMode === 'allow') return [false, tls]
  return sslMode === 'prefer' ? [tls, false] : [tls]
}

function tlsOptions({ sslMode, tls, keyPassword }: PostgresAddress): ConnectionOptions {
  const own = (name: string): string | undefined => {
    const path = join(homedir(), '.postgresql', name)
    return existsSync(path) ? path : undefined
  }
  const rootCert = tls.rootCert ?? own('root.crt')
  const [cert, key] = tls.cert === undefined ? [own('postgresql.crt'), own('postgresql.key')] : [tls.cert, tls.key]
  const client = cert !== undefined && key !== undefined && { cert: read('sslcert', cert), key: read('sslkey', key) }
  const options = { ...client, ...(keyPassword !== undefined && { passphrase: keyPassword }) }
  if (rootCert === undefined || rootCert === 'system') {
    if (!sslMode.startsWith('verify')) return { ...options, rejectUnauthorized: false }
    // Where anybody can get a certificate, one without the right name proves nothing.
    return { ...options, ca: [...getCACertificates('default'), ...getCACertificates('system')] }
  }
  const ca = read('sslrootcert', rootCert)
  if (!holdsCertificate(ca))
    throw new ConfigError([
      `HUB_DATABASE_URL names a file as sslrootcert that holds no certificate in PEM form: ${rootCert}`,
    ])
  return sslMode === 'verify-full' ? { ...options, ca } : { ...options, ca, checkServerIdentity: () => undefined }
}

function holdsCertificate(text: string): boolean {
  try {
    return text.includes('-----BEGIN') && new X509Certificate(text).raw.length > 0
  } catch {
    return false
  }
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError([`HUB_DATABASE_URL names a file as ${parameter} that cannot be read: ${path} (${code})`])
  }
}
