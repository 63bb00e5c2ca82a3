import { openProgress } from '@hedgerow/http'
import manifest from '../../../../package.json' with { type: 'json' }
import { ConfigError, deviceFilePath, type Config } from '../config.ts'
import { readConfig } from '../read-config.ts'
import { checkDeviceFile } from '../device-file/check.ts'
import { goBack } from './back.ts'
import { findCameras } from './cameras-find.ts'
import { namesCommand, takeFlags, type Outcome } from './command-line.ts'
import { addModelToDevice, listDeviceModels } from './models.ts'
import { doctor } from './doctor.ts'
import { initDeviceFile } from './init.ts'
import { learningStatus, learnNow, undoLearning } from './learning.ts'
import { newPassword } from './new-password.ts'
import { resetDevice } from './reset.ts'
import { testRules } from './rules-test.ts'
import { agentStatus } from './status.ts'
import { writeSupport } from './support.ts'

type Command = (args: string[], environment: NodeJS.ProcessEnv) => Promise<Outcome | 'help'>

const withConfig =
  (
    run: (config: Config, environment: NodeJS.ProcessEnv, args: readonly string[]) => Outcome | Promise<Outcome>,
  ): Command =>
  async (args, environment) => {
    const config = readConfig(args, environment)
    return config === 'help' ? 'help' : run(config, environment, args)
  }

/** The commands besides the agent itself, by their words. */
const commands: Readonly<Record<string, Command>> = {
  check: withConfig(async (config, environment) => {
    const { dataDir, uiTarget, cameras: givenCameras } = config
    const options = { dataDir, environment, uiTarget, givenCameras }
    const { text, isValid } = await checkDeviceFile(deviceFilePath(config), options)
    return { text, isDone: isValid }
  }),
  init: withConfig((config, _, args) => initDeviceFile(deviceFilePath(config), config.dataDir, args)),
  back: withConfig((config) => goBack(config.dataDir)),
  doctor: withConfig((config, environment) => shown('Examining the device', doctor(config, environment))),
  async support(args, environment) {
    const [file, ...others] = args
    if (file === '--help' || file === '-h') return 'help'
    if (file === undefined || file.startsWith('-'))
      throw new ConfigError('hedgerow-gateway support needs the name of a new file, before its options')
    return withConfig((config) => shown('Looking at the device', writeSupport(config, environment, file)))(
      others,
      environment,
    )
  },
  status: withConfig((config) => agentStatus(config.dataDir)),
  learning: withConfig((config) => learningStatus(config.dataDir)),
  'learning run': withConfig((config) => learnNow(config.dataDir)),
  'learning undo': (args, environment) =>
    withConfig((config) => undoLearning(config.dataDir, args.slice(0, 2)))(args.slice(2), environment),
  password: withConfig((config) => newPassword(config.dataDir)),
  async reset(args, environment) {
    const { values, rest } = takeFlags(args, { yes: 'switch', keys: 'switch' })
    const confirm = async (question: string) => values.yes === true || promptYesNo(question)
    return withConfig(({ dataDir }) => resetDevice(dataDir, { withKeys: values.keys === true, confirm }))(
      rest,
      environment,
    )
  },
  async 'model add'(args, environment) {
    const { values, rest } = takeFlags(args, { from: 'text', sha256: 'text', 'accept-licence': 'text' })
    const [what, ...others] = rest
    if (what === '--help' || what === '-h') return 'help'
    if (what === undefined || what.startsWith('-'))
      throw new ConfigError(
        'hedgerow-gateway model add needs a name, or the URL or path of a manifest, before its options',
      )
    return withConfig(({ dataDir }) =>
      addModelToDevice({
        what,
        from: values.from,
        sha256: values.sha256,
        acceptedLicence: values['accept-licence'],
        dataDir,
        confirm: promptYesNo,
        print: (line) => void process.stdout.write(`${line}\n`),
        progress: openProgress(),
      }),
    )(others, environment)
  },
  'model list': withConfig(({ dataDir }) => listDeviceModels(dataDir)),
  async 'cameras find'(args, environment) {
    const { values, rest } = takeFlags(args, { user: 'text', at: 'text' })
    const { CAMERA_PASSWORD: password } = environment
    const options = { user: values.user, password, at: values.at }
    return withConfig(() => shown('Looking for cameras', findCameras(options)))(rest, environment)
  },
  async 'rules test'(args, environment) {
    const { values, rest } = takeFlags(args, { since: 'text' })
    return withConfig((config) =>
      testRules(deviceFilePath(config), config.dataDir, { since: values.since ?? '24h', environment, now: Date.now() }),
    )(rest, environment)
  },
}

/** For a command that may take long. */
function shown(what: string, work: Promise<Outcome>): Promise<Outcome> {
  const progress = openProgress()
  return progress.during(what, (seconds) => `${seconds} s`, work).finally(progress.end)
}

/** False when no terminal is there. */
async function promptYesNo(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return (await terminal.question(`${question} Type yes to go on: `)).trim().toLowerCase() === 'yes'
  } finally {
    terminal.close()
  }
}

/** Undefined when the arguments are those of the agent itself. */
export function findCommand(args: string[]): { run: Command; args: string[] } | undefined {
  if (!namesCommand(args)) return undefined
  const [word = ''] = args
  if (word === '--version') return { run: () => Promise.resolve({ text: manifest.version, isDone: true }), args: [] }
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ')
    if (Object.hasOwn(commands, name)) return { run: commands[name]!, args: args.slice(words) }
  }
  return { run: () => refuse(word), args }
}

async function refuse(word: string): Promise<never> {
  throw new ConfigError(`There is no command "${word}". Commands: ${Object.keys(commands).join(', ')}`)
}
