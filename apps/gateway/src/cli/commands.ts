import { createInterface } from 'node:readline/promises'
import { deviceFilePath, readConfig, type Config } from '../config.ts'
import { checkDeviceFile } from '../device-file/check.ts'
import { takeFlags, type Outcome } from './command-line.ts'
import { initDeviceFile } from './init.ts'
import { newPassword } from './new-password.ts'
import { resetDevice } from './reset.ts'
import { testRules } from './rules-test.ts'
import { agentStatus } from './status.ts'

type Command = (args: string[], environment: NodeJS.ProcessEnv) => Promise<Outcome | 'help'>

const withConfig =
  (run: (config: Config, environment: NodeJS.ProcessEnv) => Outcome | Promise<Outcome>): Command =>
  async (args, environment) => {
    const config = readConfig(args, environment)
    return config === 'help' ? 'help' : run(config, environment)
  }

/** By the words that call them; all but the agent itself. */
const commands: Readonly<Record<string, Command>> = {
  check: withConfig((config, environment) => {
    const { text, isValid } = checkDeviceFile(deviceFilePath(config), environment, config.uiTarget)
    return { text, isDone: isValid }
  }),
  init: withConfig((config) => initDeviceFile(deviceFilePath(config), config.dataDir)),
  status: withConfig((config) => agentStatus(config.dataDir)),
  password: withConfig((config) => newPassword(config.dataDir)),
  async reset(args, environment) {
    const { values, rest } = takeFlags(args, { yes: 'switch', keys: 'switch' })
    return withConfig(({ dataDir }) => resetDevice(dataDir, { withKeys: values.keys === true, confirm }))(
      rest,
      environment,
    )

    async function confirm(question: string): Promise<boolean> {
      if (values.yes) return true
      if (!process.stdin.isTTY) return false
      const terminal = createInterface({ input: process.stdin, output: process.stdout })
      try {
        return (await terminal.question(`${question} Type yes to go on: `)).trim().toLowerCase() === 'yes'
      } finally {
        terminal.close()
      }
    }
  },
  async 'rules test'(args, environment) {
    const { values, rest } = takeFlags(args, { since: 'text' })
    return withConfig((config) =>
      testRules(deviceFilePath(config), config.dataDir, { since: values.since ?? '24h', environment, now: Date.now() }),
    )(rest, environment)
  },
}

/** Undefined when the arguments are those of the agent itself. */
export function findCommand(args: string[]): { run: Command; args: string[] } | undefined {
  for (const words of [2, 1]) {
    const run = commands[args.slice(0, words).join(' ')]
    if (run) return { run, args: args.slice(words) }
  }
  return undefined
}
