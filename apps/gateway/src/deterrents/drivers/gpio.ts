import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { gpioLine, libgpiodVersion, runGpio } from '../libgpiod.ts'
import { driverType } from './driver.ts'

/** How long `gpioset` may take to fail when the line is in use. */
const REFUSES_WITHIN_MS = 100

export const driver = driverType({
  name: 'gpio',
  summary: 'A line of a GPIO chip, through `gpioset` of libgpiod 1 or 2.',
  settings: {
    ...gpioLine,
    activeLow: z.boolean().default(false).describe('True for relay boards that switch on when the line is low.'),
  },
  open({ chip, line, activeLow }) {
    let version: Promise<1 | 2> | undefined
    /** Holds the line while it is on. */
    let holding: ChildProcess | undefined
    const polarity = activeLow ? ['--active-low'] : []

    async function supportedVersion(signal: AbortSignal): Promise<1 | 2> {
      version ??= libgpiodVersion('gpioset', signal)
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
          (await supportedVersion(signal)) === 2
            ? [...polarity, '-c', chip, '-t', `${seconds}s,0`, `${line}=1`]
            : [...polarity, '--mode=time', `--sec=${seconds}`, chip, `${line}=1`]
        await letGo()
        signal.throwIfAborted()
        const child = spawn('gpioset', args, { stdio: ['ignore', 'ignore', 'pipe'] })
        holding = child
        let output = ''
        child.stderr.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(0, 500)))
        const ended = Promise.withResolvers<never>()
        child.once('error', (error) => ended.reject(error))
        child.once('close', () => ended.reject(new Error(output.trim() || 'gpioset ended at once')))
        ended.promise.catch(() => {})
        await Promise.race([ended.promise, sleep(REFUSES_WITHIN_MS)])
        return 'gpioset holds the line'
      },
      async off(signal) {
        await letGo()
        const args =
          (await supportedVersion(signal)) === 2
            ? [...polarity, '-c', chip, '-t', '0', `${line}=0`]
            : [...polarity, chip, `${line}=0`]
        await runGpio('gpioset', args, signal)
        return 'gpioset has set it'
      },
      close: letGo,
    }
  },
})
