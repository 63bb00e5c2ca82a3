import { pino } from 'pino'
import { checkDeviceFile } from './device-file/check.ts'
import { ConfigError, deviceFilePath, HELP, readConfig } from './config.ts'
import { DataFileError } from './durable-file.ts'
import { inWords } from './hub/failure.ts'
import { trustHubAuthority } from './hub/hub-authority.ts'
import { startGateway, type Gateway } from './gateway.ts'

/** The gateway agent as a program: reads settings, logs, and stops cleanly on SIGINT and SIGTERM. */
async function main(): Promise<void> {
  const [command, ...rest] = process.argv.slice(2)
  const isCheck = command === 'check'
  const config = readConfig(isCheck ? rest : process.argv.slice(2), process.env)
  if (config === 'help') {
    process.stdout.write(HELP)
    return
  }
  if (isCheck) {
    const { text, isValid } = checkDeviceFile(deviceFilePath(config), process.env, config.uiTarget)
    process.stdout.write(`${text}\n`)
    process.exitCode = isValid ? 0 : 1
    return
  }
  if (config.hubCaFile !== undefined) trustHubAuthority(config.hubCaFile)
  const log = pino({ level: config.logLevel })
  const gateway = await startGateway({ ...config, log, guardProcess: true })
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => void end(gateway, name))

  async function end(running: Gateway, reason: string): Promise<void> {
    log.info({ reason }, 'stopping')
    await running.stop()
  }
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
