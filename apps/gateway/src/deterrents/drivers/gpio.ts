import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { driverType } from './driver.ts'

/** How long `gpioset` may take to fail when the line is in use. */
const REFUSES_WITHIN_MS = 100

const execute = promisify(execFile)

export const driver = driverType({
  name: 'gpio',
  summary: 'A line of a GPIO chip, through `gpioset` of libgpiod 1 or 2.',
  settings: {
    chip: z
      .string()
      .regex(/^(\/dev\/)?[\w-]{1,100}$/, 'A chip is a name such as gpiochip0.')
      .default('gpiochip0'),
    line: z.number().int().min(0).max(1_023).describe("The line's number on the chip."),
    activeLow: z.boolean().default(false).describe('True for relay boards that switch on when the line is low.'),
  },
  open({ chip, line, activeLow }) {
    let version: Promise<1 | 2> | undefined
    /** Holds the line while it is on. */
    let holding: ChildProcess | undefined
    const polarity = activeLow ? ['--active-low'] : []

    async function readVersion(signal: AbortSignal): Promise<1 | 2> {
      const { stdout } = await execute('gpioset', ['--version'], { signal }).catch(inWords)
      return /\bv?2\.\d/.test(stdout) ? 2 : 1
    }

    async function knownVersion(signal: AbortSignal): Promise<1 | 2> {
      version ??= readVersion(signal)
      try {
        return await version
      } catch (error) {
        version = undefined
        throw error
      }
    }

    async function letGo(): Promise<void> {
      const held = holding
      holding = undefined
      if (held?.pid === undefined || held.exitCode !== null || held.signalCode !== null) return
      held.kill('SIGKILL')
      await once(held, 'exit')
    }

    return {
      async on(seconds, signal) {
        const args =
          (await knownVersion(signal)) === 2
            ? [...polarity, '-c', chip, '-t', `${seconds}s,0`, `${line}=1`]
            : [...polarity, '--mode=time', `--sec=${seconds}`, chip, `${line}=1`]
        await letGo()
        signal.throwIfAborted()
        const child = spawn('gpioset', args, { stdio: ['ignore', 'ignore', 'pipe'] })
        holding = child
        let said = ''
        child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(0, 500)))
        const ended = Promise.withResolvers<never>()
        child.once('error', (error) => ended.reject(error))
        child.once('close', () => ended.reject(new Error(said.trim() || 'gpioset ended at once')))
        ended.promise.catch(() => {})
        await Promise.race([ended.promise, sleep(REFUSES_WITHIN_MS)])
        return 'gpioset holds the line'
      },
      async off(signal) {
        await letGo()
        const args =
          (await knownVersion(signal)) === 2
            ? [...polarity, '-c', chip, '-t', '0', `${line}=0`]
            : [...polarity, chip, `${line}=0`]
        await execute('gpioset', args, { signal }).catch(inWords)
        return 'gpioset has set it'
      },
      close: letGo,
    }
  },
})

function inWords(error: Error & { code?: unknown; stderr?: string }): never {
  if (error.code === 'ENOENT') throw new Error('gpioset is not installed (package gpiod)')
  throw new Error(error.stderr?.trim() || `gpioset failed (${String(error.code ?? error.name)})`)
}
