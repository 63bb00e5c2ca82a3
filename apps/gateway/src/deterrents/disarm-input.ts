/**
 * Disarms the gateway when a line of a GPIO chip becomes active: a button or a key switch beside the water. `gpiomon`
 * of libgpiod waits for one edge and ends, so nothing depends on how it buffers its output.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { z } from 'zod'
import { gpioLine, libgpiodVersion, runGpio } from './libgpiod.ts'

/** The pause after a failure: the line is in use, or the package is missing. */
const RETRY_MS = 5_000
/** Longer than a contact bounces. */
const REST_MS = 200

export const disarmInputSettings = z.strictObject({
  ...gpioLine,
  activeLow: z.boolean().default(false).describe('True for a contact that pulls the line low.'),
  bias: z.enum(['pull-up', 'pull-down']).optional().describe("The chip's own resistor; unchanged when left out."),
})
export type DisarmInputSettings = z.output<typeof disarmInputSettings>

export type DisarmInput = {
  /** Watches the line of these settings from now on; undefined ends the watch. */
  apply(settings: DisarmInputSettings | undefined): void
  /** The reason why the disarm input does not work; empty while the line is watched. */
  problems(): string[]
  stop(): Promise<void>
}

export function createDisarmInput({ onActive, log }: { onActive(): Promise<void>; log: Logger }): DisarmInput {
  let current: DisarmInputSettings | undefined
  let problem: string | undefined
  let watching: { end: AbortController; done: Promise<void> } | undefined

  async function watch(settings: DisarmInputSettings, { signal }: AbortController): Promise<void> {
    // Ends early with the watch; the loop looks at the signal itself.
    const rest = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {})
    while (!signal.aborted) {
      try {
        const args = argumentsFor(settings, await libgpiodVersion('gpiomon', signal))
        // gpiomon runs until the line becomes active, so the line is watched from here on, unless this fails.
        const edge = runGpio('gpiomon', args, signal)
        const proven = setTimeout(() => (problem = undefined), RETRY_MS / 2)
        await edge.finally(() => clearTimeout(proven))
        problem = undefined
        log.warn({ line: settings.line }, 'the disarm input is active')
        await onActive()
        await rest(REST_MS)
      } catch (error) {
        if (signal.aborted) return
        problem = `The disarm input does not work: ${(error as Error).message}`
        log.error({ err: error }, 'the disarm input does not work')
        await rest(RETRY_MS)
      }
    }
  }

  async function stop(): Promise<void> {
    const ending = watching
    watching = undefined
    ending?.end.abort()
    await ending?.done
  }

  return {
    apply(settings) {
      if (isDeepStrictEqual(settings, current)) return
      current = settings
      problem = undefined
      const before = stop()
      if (settings === undefined) return
      const end = new AbortController()
      // The line is free once the earlier watch has ended.
      watching = { end, done: before.then(() => watch(settings, end)) }
    },
    problems: () => (problem === undefined ? [] : [problem]),
    stop,
  }
}

function argumentsFor({ chip, line, activeLow, bias }: DisarmInputSettings, version: 1 | 2): string[] {
  const polarity = activeLow ? ['--active-low'] : []
  const resistor = bias === undefined ? [] : [`--bias=${bias}`]
  return version === 2
    ? [...polarity, ...resistor, '--edges=rising', '--num-events=1', '--quiet', '-c', chip, String(line)]
    : [...polarity, ...resistor, '--rising-edge', '--num-events=1', '--silent', chip, String(line)]
}
