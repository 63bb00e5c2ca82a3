import { join, resolve } from 'node:path'
import { ConfigError, type Config } from './config.ts'
import { engineOf } from './database/engine.ts'
import { fileProblem } from './kernel/file-problem.ts'
import { HubError } from './kernel/hub-error.ts'

/**
 * The reason why a start or a command failed, for a person who can change the configuration; undefined when only the
 * stack explains it.
 */
export function explainStartupError(error: unknown, config: Config): string | undefined {
  if (error instanceof ConfigError) return error.message
  if (error instanceof HubError && error.code !== 'storage_unavailable') return error.message
  const failure = error as NodeJS.ErrnoException & Place
  const { code, port, syscall, path } = failure
  const variable = variableOf({ port, syscall }, config)
  if (code === 'EADDRINUSE' && port)
    return `Port ${port} is already in use. Stop what uses it, or set ${variable} to another.`
  if (code === 'EACCES' && port) return `This user may not listen on port ${port}. Set ${variable} to another.`
  const host = hostOf(failure, config)
  if (host && (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')) return `${host} is no address of this machine.`
  if (host && syscall === 'getaddrinfo') return `${host} cannot be looked up: DNS does not answer (${code}).`
  if (path !== undefined && [config.webDir, config.siteDir].some((folder) => path.startsWith(folder)))
    return `${path} cannot be read: ${fileProblem(error)}. Build the pages again with "npm run build".`
  if (syscall === 'open' && code === 'EEXIST') return `${path} exists already. Name a new file.`
  const place = (syscall === 'mkdir' || syscall === 'open') && path !== undefined ? placeOf(path, config) : undefined
  if (place) return `${place} cannot be used: ${fileProblem(error)}.`
  if (path !== undefined && code !== undefined) return `${path} cannot be used: ${fileProblem(error)}.`
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO')
    return `A file cannot be written: ${fileProblem(error)}.`
  if (isDatabaseError(error)) return `The database cannot be used (${variableOfDatabase(config)}): ${causeOf(error)}`
  return undefined
}

const isDefault = ({ dataDir, databaseUrl }: Config) => databaseUrl === `sqlite:${join(dataDir, 'hub.sqlite')}`
const variableOfDatabase = (config: Config) => (isDefault(config) ? 'HUB_DATA_DIR' : 'HUB_DATABASE_URL')

/** The hub's own file or folder at a path. One above counts too: the system names it when it cannot make one below. */
function placeOf(path: string, config: Config): string | undefined {
  const { dataDir, databaseUrl } = config
  const file = engineOf(databaseUrl) === 'sqlite' ? resolve(databaseUrl.slice('sqlite:'.length)) : undefined
  const isInData = isWithin(path, dataDir) || isWithin(dataDir, path)
  // Its lock and its other files begin with its name.
  if (isDefault(config) ? isInData : file !== undefined && (isWithin(file, path) || path.startsWith(file)))
    return `The database file (${variableOfDatabase(config)})`
  return isInData ? 'The data folder (HUB_DATA_DIR)' : undefined
}

const isWithin = (path: string, folder: string) => `${path}/`.startsWith(folder.endsWith('/') ? folder : `${folder}/`)

type Place = { port?: number; address?: string; hostname?: string }

/**
 * The variable and its value. A failed lookup has only the name, and an error at a free port (0) only the address. The
 * address of a name is another text than the variable's: then the port decides.
 */
function hostOf({ port, address, hostname }: Place, { host, metrics }: Config): string | undefined {
  const found = hostname ?? address
  if (found === undefined) return undefined
  const hosts = [
    { variable: 'HUB_HOST', value: host, isPort: port !== undefined && port !== metrics.port },
    { variable: 'HUB_METRICS_HOST', value: metrics.host, isPort: port !== undefined && port === metrics.port },
  ]
  const named = hosts.filter(({ value }) => value === found)
  const one = named.find(({ isPort }) => isPort) ?? named[0] ?? hosts.find(({ isPort }) => isPort)
  return one && `${one.variable} ${one.value ?? found}`
}

/** One number may be a port of UDP, which is bound, and one of TCP, which listens. */
function variableOf({ port, syscall }: { port?: number | undefined; syscall?: string | undefined }, config: Config) {
  if (syscall === 'bind') return 'HUB_VPN_PORT'
  if (port === config.port) return 'HUB_PORT'
  if (port === config.metrics.port) return 'HUB_METRICS_PORT'
  return port === config.httpsPort ? 'HUB_HTTPS_PORT' : 'HUB_GATEWAY_PORTS'
}

/** SQLite names a result code, PostgreSQL a SQLSTATE of five characters. */
function isDatabaseError(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return code === 'storage_unavailable' || errcode !== undefined || /^[0-9A-Z]{5}$/.test(String(code))
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}
