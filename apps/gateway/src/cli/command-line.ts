import { parseArgs } from 'node:util'
import { ConfigError } from '../config.ts'

/** A command's output, and whether it succeeded. */
export type Outcome = { text: string; isDone: boolean }

/** Whether the arguments begin with a command, known or not; otherwise they are those of the agent itself. */
export function namesCommand([word]: readonly string[]): boolean {
  return word !== undefined && (word === '--version' || !word.startsWith('-'))
}

/** Flags of one command, beside those of the agent. */
type OwnFlags = Readonly<Record<string, 'text' | 'switch'>>
type Values<F extends OwnFlags> = { [K in keyof F]: (F[K] extends 'text' ? string : true) | undefined }

/**
 * Takes a command's own flags out of its arguments; the rest is for `readConfig`. Throws ConfigError for a flag without
 * its value.
 */
export function takeFlags<F extends OwnFlags>(args: string[], own: F): { values: Values<F>; rest: string[] } {
  const options = Object.fromEntries(
    Object.entries(own).map(([name, kind]) => [name, { type: kind === 'text' ? 'string' : 'boolean' } as const]),
  )
  const rest: string[] = []
  const values: Record<string, unknown> = {}
  for (let index = 0; index < args.length; index++) {
    const [flag = '', inline] = args[index]!.split(/=(.*)/s, 2)
    const name = flag.replace(/^--/, '')
    if (!flag.startsWith('--') || !Object.hasOwn(options, name)) {
      rest.push(args[index]!)
      continue
    }
    const isText = options[name]!.type === 'string'
    const given = isText && inline === undefined ? [flag, args[++index] ?? ''] : [args[index]!]
    try {
      Object.assign(values, parseArgs({ args: given, options }).values)
    } catch (error) {
      throw new ConfigError(error instanceof Error ? error.message : String(error))
    }
    if (isText && values[name] === '') throw new ConfigError(`${flag} needs a value`)
  }
  return { values: values as Values<F>, rest }
}

/** A time in milliseconds since 1970 as `2026-05-01 23:10:00`, by default in the device's own time zone. */
export function timeOf(at: number, timeZone?: string): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone ?? Temporal.Now.timeZoneId())
  return zoned.toPlainDateTime().toString({ smallestUnit: 'second' }).replace('T', ' ')
}
