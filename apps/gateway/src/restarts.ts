/**
 * How often the agent started again after an end that nobody asked for: an error, a lack of memory, `kill -9`. A stop,
 * an update and a start of the device do not count, nor does a start that the device's settings prevented.
 */
import { writeFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import type { Heartbeat } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { z } from 'zod'
import { instantNow, readBoot } from './deterrents/supervisor/clock.ts'
import { codeOf, inWords } from './kernel/failure.ts'
import { readJsonFile, writeDurably } from './kernel/durable-file.ts'

const restartsFile = z.object({
  boot: z.string(),
  /** False from a start to a stop. */
  hasEnded: z.boolean(),
  sinceBoot: z.int().min(0),
  /** The newest ones, in milliseconds since the device started, which never leap. */
  at: z.array(z.number()),
  reason: z.string(),
})

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A crash every second, for ten minutes. */
const RESTARTS_MAX = 600
const HOURLY_MAX = 2
const DAILY_MAX = 5
const UNKNOWN = 'for an unknown reason, as when it is killed or has no memory left'

export type Restarts = {
  report(): NonNullable<Heartbeat['restarts']>
  /** One sentence when there are many. */
  problems(): string[]
  /** The agent ends because somebody asked for it. */
  end(): Promise<void>
  /** Stores the kind of the error when one ends the process. Returns the function that stops this. */
  noteLastWords(): () => void
}

/** A file that cannot be read or written is logged, and the count begins anew. */
export async function openRestarts(
  path: string,
  { log, boot = readBoot(), now = () => instantNow().mono }: { log: Logger; boot?: string; now?: () => number },
): Promise<Restarts> {
  const lastWords = `${path}.error`
  const before = await readJsonFile(path, restartsFile).catch((error: unknown) => {
    log.warn({ reason: inWords(error) }, 'the count of restarts begins anew')
    return undefined
  })
  const lastReason = await readFile(lastWords, 'utf8').catch(() => '')
  const counted = before?.boot === boot ? before : { boot, sinceBoot: 0, at: [], reason: '', hasEnded: true }
  const isRestart = !counted.hasEnded
  const current = {
    boot,
    hasEnded: false,
    sinceBoot: counted.sinceBoot + (isRestart ? 1 : 0),
    at: [...counted.at, ...(isRestart ? [now()] : [])].slice(-RESTARTS_MAX),
    reason: isRestart ? lastReason.slice(0, 100) || UNKNOWN : counted.reason,
  }
  if (isRestart) log.warn({ reason: current.reason, sinceBoot: current.sinceBoot }, 'the agent ended by itself before')
  await rm(lastWords, { force: true }).catch(() => {})
  await write(current)

  function write(content: typeof current): Promise<void> {
    return writeDurably(path, `${JSON.stringify(content)}\n`).catch((error: unknown) =>
      log.warn({ err: error }, 'the count of restarts could not be written'),
    )
  }

  const within = (ms: number) => current.at.filter((at) => now() - at < ms).length

  return {
    report: () => ({
      sinceBoot: current.sinceBoot,
      lastHour: within(HOUR_MS),
      lastDay: within(DAY_MS),
      reason: current.reason,
    }),
    problems() {
      const [hour, day] = [within(HOUR_MS), within(DAY_MS)]
      const often =
        hour > HOURLY_MAX ? `${hour} times in the last hour` : day > DAILY_MAX ? `${day} times in the last day` : ''
      return often === '' ? [] : [`The agent restarted ${often}; the last end: ${current.reason}.`]
    },
    end: () => write({ ...current, hasEnded: true }),
    noteLastWords() {
      // Only the kind: a message may hold a password, and the hub shows this.
      let words = ''
      const note = (error: unknown) => {
        const code = codeOf(error)
        words = `an uncaught ${error instanceof Error ? error.name : 'value'}${code === undefined ? '' : ` ${code}`}`
      }
      // An error that a connection alone caused ends no process, so the words are written at the end of the process.
      const write = (exitCode: number) => {
        try {
          if (exitCode !== 0 && words !== '') writeFileSync(lastWords, words, { mode: 0o600 })
        } catch {
          // The process ends anyway.
        }
      }
      process.on('uncaughtExceptionMonitor', note)
      process.on('exit', write)
      return () => {
        process.off('uncaughtExceptionMonitor', note)
        process.off('exit', write)
      }
    },
  }
}
