/**
 * Starts the hub and ends it: the configuration from the environment, what a person needs to know on standard output,
 * the log on standard error. SIGTERM and SIGINT stop it gracefully; a second one ends it at once.
 */
import { createHub, type Hub } from './app.ts'
import { ConfigError, readConfig, type Config } from './config.ts'
import { isWebBuilt } from './http/web.ts'
import { createLog } from './log.ts'

const STOP_TIMEOUT_MS = 9_500

function fail(problem: string): never {
  console.error(problem)
  process.exit(1)
}

/** Why a start failed, for a person who can change the configuration; undefined for what only its stack explains. */
function explain(error: unknown, config: Config): string | undefined {
  if (error instanceof ConfigError) return error.message
  const { code, port, syscall } = error as { code?: string; port?: number; syscall?: string }
  const variable = variableOf(port, config)
  if (code === 'EADDRINUSE') return `Port ${port} is already in use. Stop what uses it, or set ${variable} to another.`
  if (code === 'EACCES' && port) return `This user may not listen on port ${port}. Set ${variable} to another.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `HUB_HOST ${config.host} is no address of this machine.`
  if (syscall === 'mkdir' || syscall === 'open') return `The database file cannot be used (HUB_DATA_DIR): ${code}`
  if (isDatabaseError(error)) return `The database cannot be used (HUB_DATABASE_URL): ${causeOf(error)}`
  return undefined
}

function variableOf(port: number | undefined, config: Config): string {
  if (port === config.vpn.port) return 'HUB_VPN_PORT'
  if (port === config.port) return 'HUB_PORT'
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

function stopOnSignals(hub: Hub): void {
  let stopping = false
  const stop = (): void => {
    if (stopping) process.exit(1)
    stopping = true
    setTimeout(() => fail('The hub did not stop in time.'), STOP_TIMEOUT_MS).unref()
    hub.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(`The hub did not stop cleanly: ${String(error)}`),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function loadConfig(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (error instanceof ConfigError) fail(error.message)
    throw error
  }
}

const config = loadConfig()
const log = createLog(config.logLevel)
try {
  const onTakenOver = () => fail('Another hub has taken over the database (HUB_DATABASE_URL), so this one ends.')
  const hub = await createHub({ config, log, onTakenOver })
  stopOnSignals(hub)
  const { firstAdmin } = hub
  if (firstAdmin?.generatedPassword) {
    console.log('The first administrator was created. Write this down, it is shown only once:')
    console.log(`  Username: ${firstAdmin.username}`)
    console.log(`  Password: ${firstAdmin.generatedPassword}`)
  }
  if (!isWebBuilt(config.webDir))
    console.log('The portal is not built, so there are no pages: build it with "npm run build".')
  const { url, httpsPort } = await hub.start()
  console.log(`Hub: ${url}${httpsPort === undefined ? '' : ` and https://localhost:${httpsPort}`}`)
} catch (error) {
  const reason = explain(error, config)
  if (!reason) log.fatal({ err: error }, 'the hub could not start')
  fail(reason ?? 'The hub could not start.')
}
