/**
 * Starts and stops the hub: configuration from the environment, messages for people on standard output, the log on
 * standard error. SIGTERM and SIGINT stop it gracefully; a second one ends it at once. With a command as argument it
 * runs that command instead.
 */
import { emailAddress } from '@hedgerow/contract'
import type { Logger } from 'pino'
import manifest from '../../../package.json' with { type: 'json' }
import { createHub, type Hub } from './hub.ts'
import { addressFirstAdmin, firstAdminShown, type FirstAdmin } from './accounts/first-admin.ts'
import { createPasswords } from './accounts/passwords.ts'
import { runCommand } from './cli/cli.ts'
import { ConfigError, type Config } from './config.ts'
import { readConfig } from './read-config.ts'
import { explainStartupError } from './startup-errors.ts'
import { addressesForOthers, machineInterfaces } from './http/addresses.ts'
import { isWebBuilt } from './http/web.ts'
import { createLog } from './kernel/log.ts'
import { prompt, isAtTerminal } from './kernel/terminal.ts'

const STOP_TIMEOUT_MS = 9_500
const BETA_PATH = '/beta'

function fail(problem: string): never {
  console.error(problem)
  process.exit(1)
}

function stopOnSignals(hub: Hub, log: Logger): void {
  let stopping = false
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'the hub stops')
    setTimeout(() => fail('The hub did not stop in time.'), STOP_TIMEOUT_MS).unref()
    hub.stop().then(
      () => {
        log.info('the hub has stopped')
        process.exit(0)
      },
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

async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  try {
    const onTakenOver = () => fail('Another hub has taken over the database (HUB_DATABASE_URL), so this one ends.')
    const hub = await createHub({ config, log, onTakenOver })
    stopOnSignals(hub, log)
    hub.connections.faults.guardProcess()
    const { firstAdmin } = hub
    const { url, port, httpsPort } = await hub.start()
    if (firstAdmin?.generatedPassword) {
      console.log('The first administrator was created. Write this down, it is shown only once:')
      console.log(`  Username: ${firstAdmin.username}`)
      console.log(`  Password: ${firstAdmin.generatedPassword}`)
      await firstAdminShown(hub.db)
    }
    if (!isWebBuilt(config))
      console.log('The portal is not built, so there are no pages: build it with "npm run build".')
    console.log(`Hub: ${url}${httpsPort === undefined ? '' : ` and https://localhost:${httpsPort}`}`)
    log.info({ version: manifest.version, node: process.version, port, httpsPort }, 'the hub has started')
    const others = addressesForOthers(config, { port, httpsPort }, machineInterfaces())
    if (others.length > 0) console.log(`From other machines: ${others.join(' ')}`)
    if (firstAdmin)
      await promptForEmail(hub, firstAdmin, config).catch((error: unknown) =>
        log.error({ err: error }, 'the email address was not stored'),
      )
  } catch (error) {
    const reason = explainStartupError(error, config)
    if (!reason) log.fatal({ err: error }, 'the hub could not start')
    fail(reason ?? 'The hub could not start.')
  }
}

/** The first start asks a person at a terminal; the hub works meanwhile. */
async function promptForEmail(hub: Hub, firstAdmin: FirstAdmin, { admin, contactEmail }: Config): Promise<void> {
  if (admin.email !== undefined || contactEmail !== undefined || !isAtTerminal()) return
  console.log(`Which email address has ${firstAdmin.username}? Visitors see it on ${BETA_PATH} and write to it.`)
  const email = await prompt(
    'Email (Enter for none): ',
    (answer) => emailAddress.safeParse(answer).error?.issues[0]?.message,
  )
  if (email === undefined) return console.log('None. It can be set in the profile later.')
  await addressFirstAdmin(hub.db, firstAdmin, email)
  console.log(`${BETA_PATH} has the address ${email}.`)
}

async function run(args: string[]): Promise<void> {
  const config = loadConfig()
  try {
    process.exitCode = await runCommand(args, { config, passwords: createPasswords(), print: console.log })
  } catch (error) {
    fail(
      explainStartupError(error, config) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    )
  }
}

const args = process.argv.slice(2)
await (args.length === 0 ? serve(loadConfig()) : run(args))
