import { namesCommand } from './cli/command-line.ts'
import { ConfigError } from './config.ts'
import { HELP, readConfig } from './read-config.ts'
import { inWords } from './kernel/failure.ts'
import { explainFileError, isOfTheDevice, NOT_THE_VERSION } from './kernel/startup-error.ts'
import { trustHubAuthority } from './hub/hub-authority.ts'

/** When settings, data or the device prevent the start: only the launcher knows another code than 1. */
const NO_FAULT = process.env.HEDGEROW_LAUNCHER ? NOT_THE_VERSION : 1
let exitCode = 1

/**
 * The gateway agent as a program, or one of its commands. Imports either only when it runs: people see what is wrong
 * with their settings at once, and an agent keeps no command in its memory.
 */
async function main(): Promise<void> {
  const args = process.argv.slice(2)
  const command = namesCommand(args) ? (await import('./cli/commands.ts')).findCommand(args) : undefined
  if (command) {
    const outcome = await command.run(command.args, process.env)
    process.stdout.write(outcome === 'help' ? HELP : `${outcome.text}\n`)
    process.exitCode = outcome === 'help' || outcome.isDone ? 0 : 1
    return
  }
  let config: ReturnType<typeof readConfig>
  try {
    config = readConfig(args, process.env)
  } catch (error) {
    if (error instanceof ConfigError) exitCode = NO_FAULT
    throw error
  }
  if (config === 'help') {
    process.stdout.write(HELP)
    return
  }
  if (config.hubCaFile !== undefined) trustHubAuthority(config.hubCaFile)
  const { runAgent } = await import('./run-agent.ts')
  await runAgent(config).catch((error: unknown) => {
    if (isOfTheDevice(error)) exitCode = NO_FAULT
    throw error
  })
}

function explainStartupError(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'The port of the device page is taken. Choose another with --port or GATEWAY_PORT.'
  const ofFile = explainFileError(error)
  if (ofFile !== undefined) return ofFile
  if (isOfTheDevice(error)) return `The gateway cannot go on: ${inWords(error)} (${code}).`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${explainStartupError(error)}\n`)
  process.exitCode = exitCode
}
