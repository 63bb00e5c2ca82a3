/** The part of `gateway.yaml` for deterrents and their limits. */
import { z } from 'zod'
import { hoursList } from '../kernel/hours.ts'
import { driverNames, loadDriver } from './drivers.ts'

/** No firing is longer, whatever the file says. */
export const SECONDS_MAX = 1_800
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

const seconds = z.number().int().min(1)

const limits = {
  seconds: seconds.max(SECONDS_MAX).default(10).describe('The length of a firing when nothing else gives one.'),
  maximumSeconds: seconds.max(SECONDS_MAX).optional().describe('The longest firing; `seconds` when left out.'),
  coolDownSeconds: z.number().int().min(0).max(DAY_SECONDS).default(30).describe('The pause after a firing.'),
  secondsAnHour: seconds
    .max(HOUR_SECONDS)
    .optional()
    .describe('The most seconds of firing in any hour; when left out, 300 or the longest firing, whichever is more.'),
  secondsADay: seconds
    .max(DAY_SECONDS)
    .optional()
    .describe(
      'The most seconds of firing in any 24 hours; when left out, 3,600 or the longest firing, whichever is more.',
    ),
  quietHours: hoursList
    .optional()
    .describe('When neither people nor rules nor programs may fire it, such as `22:00-06:00`.'),
  armed: hoursList
    .optional()
    .describe(
      'When rules and programs may fire it, such as `sunset-sunrise`; always when left out. People may fire it ' +
        'at any time outside `quietHours`.',
    ),
  watchedBy: z
    .array(z.string().min(1).max(200))
    .max(64)
    .optional()
    .describe(
      'Cameras that see where it acts: a person on one of them blocks it for a minute, and so does one of them ' +
        'that does not look. When left out, all cameras of the device and of this file watch it, and for a rule ' +
        'its own; `[]`: none does.',
    ),
} as const

export type Limits = z.output<z.ZodObject<typeof limits>>
/** The keys of the driver are beside these. */
export type DeterrentSettings = Limits & { driver: string }

const driverTypes = await Promise.all(driverNames.map(loadDriver))
const options = driverTypes.map(({ name, summary, settings }) =>
  z.strictObject({ driver: z.literal(name), ...settings, ...limits }).describe(summary),
)

const deterrent = z
  .discriminatedUnion('driver', options as unknown as [z.ZodObject<{ driver: z.ZodLiteral<string> } & typeof limits>])
  .superRefine((settings, context) => {
    const longest = longestOf(settings)
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (longest < settings.seconds) problem('maximumSeconds', 'This must be at least `seconds`.')
    if ((settings.secondsAnHour ?? longest) < longest)
      problem('secondsAnHour', `One firing of ${longest} s must fit into it.`)
    if ((settings.secondsADay ?? longest) < longest)
      problem('secondsADay', `One firing of ${longest} s must fit into it.`)
  })

export const deterrentsSettings = z.record(
  z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,62}$/u, 'A name has at most 63 letters, digits, spaces, _ . and -.'),
  deterrent,
) as z.ZodType<Record<string, DeterrentSettings>>

export function longestOf({ seconds, maximumSeconds }: Limits): number {
  return Math.min(maximumSeconds ?? seconds, SECONDS_MAX)
}

export function hourBudgetOf(settings: Limits): number {
  return settings.secondsAnHour ?? Math.max(300, longestOf(settings))
}

export function dayBudgetOf(settings: Limits): number {
  return settings.secondsADay ?? Math.max(3_600, longestOf(settings))
}
