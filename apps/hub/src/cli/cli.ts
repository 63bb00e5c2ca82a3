/**
 * The commands beside serving: `hub backup`, `restore`, `doctor` and so on. They read the hub's
 * HUB_* variables and, except for restore, work while it runs. Results go to standard output; errors are thrown, and
 * program.ts passes them to explainStartupError.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { NO_PROGRESS, openProgress } from '@hedgerow/http'
import { newUserInvitation, tokenFields } from '@hedgerow/contract'
import { wordsOfIssue } from '@hedgerow/contract/words'
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import manifest from '../../../../package.json' with { type: 'json' }
import {
  allowPassword,
  createTokenOf,
  createUserInvitation,
  findByName,
  NO_PASSWORD,
  resetPassword,
  resetTwoFactor,
} from '../accounts/accounts.ts'
import { ConfigError, type Config } from '../config.ts'
import { backupDatabase, restoreDatabase } from '../database/backup.ts'
import { openDatabase } from '../database/database.ts'
import { engineOf } from '../database/engine.ts'
import { lockDatabase } from '../database/lock.ts'
import type { Tables } from '../database/tables.ts'
import { openRecords } from '../followers/followers.ts'
import { HUB } from '../facts/facts.ts'
import { checkForUpdate } from '../hub-update/hub-update.ts'
import { fileProblem } from '../kernel/file-problem.ts'
import { createLog } from '../kernel/log.ts'
import { readSettings } from '../settings/settings.ts'
import { examine } from './doctor.ts'
import { describeHub } from './support.ts'

/** How a person calls this program: from the sources, or from a bundle. */
const COMMAND = import.meta.filename.endsWith('.ts') ? 'npm run hub --' : 'hedgerow-hub'

export const HELP = `Usage: ${COMMAND} [command]

  (no command)            serve
  backup FILE             copy the whole database into a new file, also while the hub runs
  restore FILE            put a backup in the database's place; the hub must be stopped
  doctor [--json]         look for what is wrong, and say what to do
  support FILE            write what helps to find a fault, without secrets, names of people or addresses
  reset-password NAME     give a user a new password and end their sessions
  reset-two-factor NAME   switch a user's two-factor off, delete their recovery codes and end their sessions
  allow-password NAME     let a user sign in with their password for an hour, though HUB_LOCAL_SIGN_IN is off
  invite [options]        make an invitation for a new user, and print its code
    --role ROLE           user, manager or admin (user)
    --uses N              how many accounts it makes (1)
    --hours N             how many hours it is valid (168)
    --label TEXT          what it is for
  token create USER NAME  make a token for a program of that user, and print it
    --role ROLE           user, manager or admin (that of the user)
    --access ACCESS       read, or all (read)
    --days N              how many days it is valid (90)
  check-update            say whether there is a newer version of the hub at HUB_UPDATES_URL
  fetch-update FOLDER     fetch its archive into a folder and check it; prints the file, or nothing
    --deb                 the Debian package instead
  --help                  this text
  --version               the version of this program

All of them read the HUB_* variables that docs/operations/configuration.md lists.
`

export type CommandContext = {
  config: Config
  passwords: Parameters<typeof resetPassword>[1]
  /** Writes lines to standard output. */
  print: (text: string) => void
}

type Command = (args: string[], context: CommandContext) => Promise<number>

const commands: Readonly<Record<string, Command>> = {
  async backup(args, { config, print }) {
    const [file] = read(args, 'backup FILE', 1).positionals
    const path = resolve(file!)
    const progress = openProgress()
    await backupDatabase(config.databaseUrl, path, progress).finally(progress.end)
    print(`Backed up to ${path}. It holds the hub's keys: keep it where nobody else can read it.`)
    return 0
  },

  async restore(args, { config, print }) {
    const [file] = read(args, 'restore FILE', 1).positionals
    const lock = await lockDatabase(config.databaseUrl)
    const progress = openProgress()
    try {
      const { replaced } = await restoreDatabase(config.databaseUrl, resolve(file!), progress).finally(progress.end)
      print('Restored. Start the hub again.')
      if (replaced) print(`The database that was there before is kept as ${replaced}.`)
    } finally {
      await lock.release()
    }
    return 0
  },

  async doctor(args, { config, print }) {
    const { values } = read(args, 'doctor [--json]', 0, { json: { type: 'boolean' } })
    const progress = values['json'] ? NO_PROGRESS : openProgress()
    const examining = progress.during('Examining the hub', (seconds) => `${seconds} s`, examine(config))
    const findings = await examining.finally(progress.end)
    if (values['json']) print(JSON.stringify(findings, null, 2))
    else
      for (const { check, state, text, remedy } of findings) {
        print(`${state.padEnd(4)}  ${check.padEnd(12)}  ${text}`)
        if (remedy) print(`${' '.repeat(20)}${remedy}`)
      }
    return findings.some(({ state }) => state === 'FAIL') ? 1 : 0
  },

  async support(args, { config, print }) {
    const [file] = read(args, 'support FILE', 1).positionals
    const path = resolve(file!)
    const progress = openProgress()
    const looking = progress.during('Looking at the hub', (seconds) => `${seconds} s`, describeHub(config))
    const text = `${JSON.stringify(await looking.finally(progress.end), null, 2)}\n`
    await writeFile(path, '', { mode: 0o600, flag: 'wx' })
    await writeFile(path, text).catch(async (error: unknown) => {
      await rm(path, { force: true })
      throw new ConfigError([`${path} cannot be written: ${fileProblem(error)}.`])
    })
    print(`Written to ${path}. Read it before you pass it on: it should hold nothing that is secret.`)
    return 0
  },

  async 'reset-password'(args, { config, passwords, print }) {
    const [name] = read(args, 'reset-password NAME', 1).positionals
    const password = randomBytes(15).toString('base64url')
    await withDatabase(config, (db) => resetPassword(db, passwords, name!, password))
    print(`The new password of ${JSON.stringify(name)}, shown only once:\n  ${password}`)
    return 0
  },

  async 'reset-two-factor'(args, { config, print }) {
    const [name] = read(args, 'reset-two-factor NAME', 1).positionals
    const { user, done, required } = await withDatabase(config, async (db) => {
      const found = await findByName(db, name!)
      return {
        user: found,
        done: await resetTwoFactor(db, found.id, { at: Date.now(), actor: HUB }),
        required: (await readSettings(db)).twoFactorRequired,
      }
    })
    const { wasOn, recoveryCodes, sessions } = done
    print(`Two-factor of ${JSON.stringify(user.username)} ${wasOn ? 'is switched off' : 'was off already'}.`)
    print(`Deleted recovery codes: ${recoveryCodes}. Ended sessions: ${sessions}. The password is the same.`)
    if (required) print('This hub requires two-factor: the next sign-in asks to set it up.')
    if (user.active === 0) print('The account is inactive: an admin has to activate it.')
    return 0
  },

  async 'allow-password'(args, { config, print }) {
    const [name] = read(args, 'allow-password NAME', 1).positionals
    const user = await withDatabase(config, async (db) => {
      const found = await findByName(db, name!)
      await allowPassword(db, found, { at: Date.now(), actor: HUB })
      return found
    })
    print(`${JSON.stringify(user.username)} (${user.role}) may sign in with their password for an hour, at /login.`)
    if (user.password_hash === NO_PASSWORD) print('They have no password yet: reset-password gives them one.')
    if (user.active === 0) print('The account is inactive: an admin has to activate it.')
    return 0
  },

  async invite(args, { config, print }) {
    const text = { type: 'string' } as const
    const { values } = read(args, 'invite [options]', 0, { role: text, uses: text, hours: text, label: text })
    const given = {
      role: values['role'],
      label: values['label'],
      maxUses: values['uses'] === undefined ? undefined : Number(values['uses']),
      expiresInHours: values['hours'] === undefined ? undefined : Number(values['hours']),
    }
    const wanted = parsed(newUserInvitation, given, { maxUses: '--uses', expiresInHours: '--hours' })
    const { invitation, code } = await withDatabase(config, (db) =>
      createUserInvitation(db, wanted, { actor: HUB, at: Date.now() }),
    )
    print(`Invitation code, shown only once:\n  ${code}`)
    const uses = invitation.maxUses === 1 ? 'one account' : `${invitation.maxUses} accounts`
    print(`Valid for ${uses} with the role ${invitation.role}, until ${invitation.expiresAt}.`)
    return 0
  },

  async token(args, { config, print }) {
    const text = { type: 'string' } as const
    const usage = 'token create USER NAME [options]'
    const { positionals, values } = read(args, usage, 3, { role: text, access: text, days: text })
    const [verb, username, name] = positionals
    if (verb !== 'create') throw new ConfigError([`Usage: ${usage}`])
    const days = values['days'] === undefined ? undefined : Number(values['days'])
    const given = { name, role: values['role'], access: values['access'], expiresInDays: days }
    const wanted = parsed(tokenFields, given, { name: 'NAME', expiresInDays: '--days' })
    const { token, details } = await withDatabase(config, (db) =>
      createTokenOf(db, username!, wanted, { actor: HUB, at: Date.now() }),
    )
    print(`Token, shown only once:\n  ${token}`)
    const may = details.access === 'read' ? 'reads only' : 'reads and changes'
    print(`It ${may}, with the role ${details.role}, until ${details.expiresAt}.`)
    return 0
  },

  async 'check-update'(args, { config, print }) {
    read(args, 'check-update', 0)
    const { version, newer } = await checkVersions(config)
    print(newer ? `Version ${newer.version} is available; this is ${version}.` : `${version} is the newest.`)
    return 0
  },

  async 'fetch-update'(args, { config, print }) {
    const { positionals, values } = read(args, 'fetch-update FOLDER [--deb]', 1, { deb: { type: 'boolean' } })
    const { newer } = await checkVersions(config)
    const progress = openProgress()
    const fetching = newer?.fetch(values['deb'] ? 'deb' : 'archive', resolve(positionals[0]!), progress)
    const file = await fetching?.finally(progress.end)
    if (file !== undefined) print(file)
    return 0
  },
}

async function checkVersions({ updates, dataDir }: Config) {
  if (!updates) throw new ConfigError(['HUB_UPDATES_URL is not set: it names the folder with releases.'])
  return checkForUpdate(updates, dataDir).catch((error: unknown) => {
    throw new ConfigError([`${updates.url}: ${(error as Error).message}`])
  })
}

/** Returns the exit code. Throws a `ConfigError` for an unknown command or option. */
export async function runCommand([name = '', ...args]: string[], context: CommandContext): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') {
    context.print(HELP.trimEnd())
    return 0
  }
  if (name === '--version') {
    context.print(manifest.version)
    return 0
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new ConfigError([`There is no command ${JSON.stringify(name)}.\n\n${HELP}`])
  return command(args, context)
}

/** Options that the contract's schema takes; its error names the option. */
function parsed<S extends z.ZodType>(schema: S, given: object, names: Readonly<Record<string, string>>): z.output<S> {
  const wanted = schema.safeParse(given, { error: wordsOfIssue })
  if (wanted.success) return wanted.data
  const [issue] = wanted.error.issues
  const field = String(issue?.path[0])
  throw new ConfigError([`${names[field] ?? `--${field}`}: ${issue?.message}`])
}

function read(args: string[], usage: string, positionals: number, options: ParseArgsOptionsConfig = {}) {
  try {
    const parsed = parseArgs({ args, options, allowPositionals: true })
    if (parsed.positionals.length === positionals) return parsed
  } catch (error) {
    throw new ConfigError([`${(error as Error).message}\nUsage: ${usage}`])
  }
  throw new ConfigError([`Usage: ${usage}`])
}

/** The database of a hub that may be running: never creates or migrates it. */
async function withDatabase<T>(config: Config, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const { databaseUrl: url } = config
  const path = url.slice('sqlite:'.length)
  if (engineOf(url) === 'sqlite' && !existsSync(path))
    throw new ConfigError([`There is no database at ${path} (HUB_DATA_DIR, HUB_DATABASE_URL).`])
  const database = await openDatabase({ url, mayMigrate: false })
  try {
    openRecords(database.db, { log: createLog(config.logLevel) })
    return await work(database.db)
  } finally {
    await database.close()
  }
}
