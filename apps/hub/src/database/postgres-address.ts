/**
 * Reads `postgres://` addresses as libpq does (postgresql.org/docs/current/libpq-connect.html): several hosts, sockets,
 * and TLS by `sslmode`. What the hub does not know it refuses, because libpq does so too and a misspelt `sslmode` would
 * leave out TLS. Errors never show a value: an address holds a password.
 */
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { ConfigError } from '../config.ts'

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
export type SslMode = (typeof SSL_MODES)[number]

/** `host` is a name, an address, or the folder of a socket. */
export type PostgresServer = { host: string; port: number }

export type PostgresAddress = {
  servers: readonly PostgresServer[]
  user: string
  password: string | undefined
  database: string
  sslMode: SslMode
  /** Paths; `system` as `rootCert` is the certificates of the machine. */
  tls: { rootCert?: string | undefined; cert?: string | undefined; key?: string | undefined }
  keyPassword: string | undefined
  /** A server on which nothing can be written is passed over. */
  mustWrite: boolean
  connectTimeoutMs: number
  session: { application_name?: string; options?: string; statement_timeout?: number; lock_timeout?: number }
}

const PARTS = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s
const DEFAULT_PORT = 5432
const CONNECT_TIMEOUT_MS = 5_000
/** Where Debian's packages and PostgreSQL's own builds have their socket. */
const SOCKET_FOLDERS = ['/var/run/postgresql', '/tmp']
const KNOWN = new Set(
  `host port dbname user password target_session_attrs connect_timeout client_encoding
   sslmode ssl sslrootcert sslcert sslkey sslpassword uselibpqcompat
   application_name fallback_application_name options statement_timeout lock_timeout`.split(/\s+/),
)
/** Those of libpq that the hub lacks: their names are no part of a password, so an error may show them. */
const LACKING = new Set(
  `channel_binding require_auth passfile hostaddr service servicefile sslcompression sslnegotiation sslcertmode sslcrl
   sslcrldir sslsni ssl_min_protocol_version ssl_max_protocol_version min_protocol_version max_protocol_version
   gssencmode gsslib gssdelegation krbsrvname requirepeer replication load_balance_hosts scram_client_key
   scram_server_key keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout`.split(/\s+/),
)

/** Throws a `ConfigError` that says what is wrong with the address. */
export function readPostgresAddress(url: string): PostgresAddress {
  const [, authority = '', path = '', query = ''] = PARTS.exec(url) ?? refuse('is no address')
  const at = authority.lastIndexOf('@')
  const [userInfoPart, hostPart] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)]
  const given = parametersOf(query)
  const parameter = (name: string): string | undefined => given.get(name) || undefined
  const colon = userInfoPart.indexOf(':')
  const [name, password] =
    colon < 0 ? [userInfoPart, ''] : [userInfoPart.slice(0, colon), userInfoPart.slice(colon + 1)]
  const user = parameter('user') ?? (decoded(name) || process.env['PGUSER'] || ownName())
  const servers = serversOf(hostPart, parameter('host'), parameter('port'))
  const encoding = parameter('client_encoding')
  if (encoding !== undefined && !/^(auto|utf-?8)$/i.test(encoding)) refuse('client_encoding must be UTF8')
  const applicationName = parameter('application_name') ?? parameter('fallback_application_name')
  const options = parameter('options')
  return {
    servers,
    user,
    password: parameter('password') ?? (decoded(password) || undefined),
    database: parameter('dbname') ?? (decoded(path) || user),
    ...tlsOf(parameter),
    mustWrite: mustWrite(parameter('target_session_attrs'), servers.length),
    connectTimeoutMs: number(parameter('connect_timeout'), 'connect_timeout') * 1_000 || CONNECT_TIMEOUT_MS,
    session: {
      ...(applicationName && { application_name: applicationName }),
      ...(options && { options }),
      ...timeout(parameter, 'statement_timeout'),
      ...timeout(parameter, 'lock_timeout'),
    },
  }
}

const INSTEAD: Record<string, string> = {
  channel_binding: ', and use sslmode=verify-full, which also proves the server',
}

function parametersOf(query: string): Map<string, string> {
  const given = new Map<string, string>()
  for (const part of query.split('&').filter(Boolean)) {
    const at = part.indexOf('=')
    const name = decoded(at < 0 ? part : part.slice(0, at))
    if (LACKING.has(name))
      refuse(`has the parameter ${name}, which the hub does not have: leave it out${INSTEAD[name] ?? ''}`)
    // The name may be part of a password with an unencoded question mark.
    if (!KNOWN.has(name)) refuse(`may only have these parameters after the question mark: ${[...KNOWN].join(', ')}`)
    given.set(name, at < 0 ? '' : decoded(part.slice(at + 1)))
  }
  return given
}

/** A percent sign that encodes nothing stands for itself, as in a password that nobody encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    return refuse('has percent signs that encode no UTF-8')
  }
}

function ownName(): string {
  try {
    return userInfo().username
  } catch {
    return refuse('must name a user: postgres://user@host/database')
  }
}

function serversOf(hostPart: string, hosts: string | undefined, ports: string | undefined): PostgresServer[] {
  const named = hostPart.split(',').map((text) => {
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? refuse('has a host it cannot have')
    return { host: decoded(host.replace(/^\[(.*)\]$/, '$1')), port }
  })
  const names = hosts === undefined ? named.map(({ host }) => host) : hosts.split(',')
  const numbers = ports === undefined ? named.map(({ port }) => port) : ports.split(',')
  if (numbers.length > 1 && numbers.length !== names.length) refuse('must have one port, or one for each host')
  return names.map((host, index) => {
    const port = portOf((numbers.length === 1 ? numbers[0] : numbers[index]) ?? '')
    return { host: host || defaultHost(port), port }
  })
}

function portOf(text: string): number {
  const port = text === '' ? Number(process.env['PGPORT'] ?? DEFAULT_PORT) : /^\d+$/.test(text) ? Number(text) : NaN
  return port >= 1 && port <= 65_535 ? port : refuse('has a port that is no number between 1 and 65535')
}

function defaultHost(port: number): string {
  const folder = SOCKET_FOLDERS.find((folder) => existsSync(`${folder}/.s.PGSQL.${port}`))
  return process.env['PGHOST'] ?? folder ?? 'localhost'
}

function tlsOf(
  parameter: (name: string) => string | undefined,
): Pick<PostgresAddress, 'sslMode' | 'tls' | 'keyPassword'> {
  const rootCert = parameter('sslrootcert')
  const sslMode = sslModeOf(parameter, rootCert)
  if (rootCert === 'system' && sslMode !== 'verify-full')
    refuse('must have sslmode=verify-full with sslrootcert=system')
  const [cert, key] = [parameter('sslcert'), parameter('sslkey')]
  if ((cert === undefined) !== (key === undefined)) refuse('must have both sslcert and sslkey, or neither')
  return { sslMode, tls: { rootCert, cert, key }, keyPassword: parameter('sslpassword') }
}

function sslModeOf(parameter: (name: string) => string | undefined, rootCert: string | undefined): SslMode {
  const mode = parameter('sslmode') ?? process.env['PGSSLMODE']
  // `ssl` is JDBC's, and `no-verify` is pg's: addresses of older hubs may have them.
  if (mode === undefined && parameter('ssl') !== undefined)
    return /^(0|false)$/.test(parameter('ssl')!) ? 'disable' : 'require'
  if (mode === undefined) return rootCert === 'system' ? 'verify-full' : 'prefer'
  if (mode === 'no-verify') return 'require'
  return (
    SSL_MODES.find((allowedNames) => allowedNames === mode) ??
    refuse(`must have one of these as sslmode: ${SSL_MODES.join(', ')}`)
  )
}

/** The hub writes, so of several servers it takes one that can be written on, unless the address says otherwise. */
function mustWrite(wanted: string | undefined, servers: number): boolean {
  if (wanted === undefined) return servers > 1
  if (wanted === 'any') return false
  return wanted === 'read-write' || wanted === 'primary'
    ? true
    : refuse('must have read-write, primary or any as target_session_attrs: the hub writes')
}

function timeout(parameter: (name: string) => string | undefined, name: 'statement_timeout' | 'lock_timeout') {
  const text = parameter(name)
  return text === undefined ? {} : { [name]: number(text, name) }
}

function number(text: string | undefined, name: string): number {
  if (text === undefined) return 0
  return /^\d{1,9}$/.test(text) ? Number(text) : refuse(`must have a number as ${name}`)
}

function refuse(problem: string): never {
  throw new ConfigError([`HUB_DATABASE_URL ${problem}`])
}
