import { logOutput } from '@hedgerow/http'
import { pino } from 'pino'
import type { Config } from './config.ts'
import { startGateway, type Gateway } from './gateway.ts'
import { releaseProgramPages } from './program-pages.ts'
import { findInstallation, RESTART_CODE } from './update/installation.ts'

/** By then a device that is a gateway has its tunnel and has sent its first heartbeat. */
const AT_REST_AFTER_MS = 20_000

/**
 * The agent of this process: logs on standard output, as JSON or for a person at a terminal, and stops cleanly on
 * SIGINT and SIGTERM. Resolves when it has started.
 */
export async function runAgent(config: Config): Promise<void> {
  const log = pino(
    { level: config.logLevel },
    logOutput(process.stdout, () => pino.destination({ dest: 1, sync: true })),
  )
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
