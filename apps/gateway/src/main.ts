import { pino } from 'pino'
import { findCommand } from './cli/commands.ts'
import { ConfigError } from './config.ts'
import { HELP, readConfig } from './read-config.ts'
import { DataFileError } from './kernel/durable-file.ts'
import { inWords } from './kernel/failure.ts'
import { trustHubAuthority } from './hub/hub-authority.ts'
import { startGateway, type Gateway } from './gateway.ts'
import { releaseProgramPages } from './program-pages.ts'
import { findInstallation, RESTART_CODE } from './update/installation.ts'

/** By then a device that is a gateway has its tunnel and has sent its first heartbeat. */
const AT_REST_AFTER_MS = 20_000

/** The gateway agent as a program: reads settings, logs, and stops cleanly on SIGINT and SIGTERM. */
async function main(): Promise<void> {
  const args = process.argv.slice(2)
  const command = findCommand(args)
  if (command) {
    const outcome = await command.run(command.args, process.env)
    process.stdout.write(outcome === 'help' ? HELP : `${outcome.text}\n`)
    process.exitCode = outcome === 'help' || outcome.isDone ? 0 : 1
    return
  }
  const config = readConfig(args, process.env)
  if (config === 'help') {
    process.stdout.write(HELP)
    return
  }
  if (config.hubCaFile !== undefined) trustHubAuthority(config.hubCaFile)
  const log = pino({ level: config.logLevel })
  const started = Promise.withResolvers<Gateway>()
  let isEnding = false
  /** A start is finished first, because ending in the middle of it would leave half-written files. */
  async function end(reason: string): Promise<void> {
    if (isEnding) return
    isEnding = true
    log.info({ reason }, 'stopping')
    const running = await started.promise
    await running.stop()
  }
  process.once('SIGINT', () => void end('SIGINT'))
  // Under systemd two come: one to every process of the service, and the one that the launcher forwards.
  process.on('SIGTERM', () => void end('SIGTERM'))
  const restart = () => {
    process.exitCode = RESTART_CODE
    void end('an update')
  }
  const installation = findInstallation(process.env)
  const gateway = await startGateway({ ...config, log, guardProcess: true, installation, restart })
  started.resolve(gateway)
  if (gateway.newPassword !== undefined)
    process.stdout.write(`The password of this device's own interface, shown once: ${gateway.newPassword}\n`)
  const release = () => releaseProgramPages().catch((error: unknown) => log.debug(error, 'the pages of the start stay'))
  setTimeout(() => void release(), AT_REST_AFTER_MS).unref()
}

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof DataFileError) return error.message
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return 'The port of the device page is taken. Choose another with --port or GATEWAY_PORT.'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOSPC')
    return `The gateway cannot start: ${inWords(error)}${error instanceof Error ? ` (${error.message})` : ''}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
