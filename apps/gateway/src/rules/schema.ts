import { z } from 'zod'
import { isPersonLabel } from '../kernel/person-label.ts'
import { WEEK_DAYS } from '@hedgerow/contract'
import { hoursList } from '../kernel/hours.ts'

/** The same limit as in the interlock of the deterrents. */
const SECONDS_MAX = 1_800

export const RULE_NAME_MAX = 100
const name = z.string().trim().min(1).max(RULE_NAME_MAX)
const seconds = z.number().int().min(1).max(SECONDS_MAX)

const rule = z
  .strictObject({
    name: name.describe('Its name in the ledger and on the hub. No two rules have the same name.'),
    enabled: z.boolean().default(true).describe('When false, the rule does nothing.'),
    labels: z.array(name).min(1).describe('The labels that fire it, such as `boar`. One of them is enough.'),
    cameras: z.array(name).min(1).optional().describe('The cameras whose detections fire it; all when left out.'),
    zones: z
      .array(name)
      .min(1)
      .optional()
      .describe('Zones of these cameras: one that it entered is enough. The whole picture when left out.'),
    minimumScore: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe('The lowest score of a detection that fires it, 0 to 1.'),
    verdict: z
      .enum(['any', 'confirmed'])
      .default('any')
      .describe(
        '`confirmed`: only detections that the last stage confirmed. Detections that it rejected never fire anything.',
      ),
    hours: hoursList
      .optional()
      .describe(
        'When it may fire, such as `22:00-06:00`, `sunset-sunrise`, `sunset+30m-23:30`, `Mon-Fri 18:00-06:00` or ' +
          '`Sat,Sun`; always when left out.',
      ),
    days: z
      .array(z.enum(WEEK_DAYS))
      .min(1)
      .optional()
      .describe('The days of the week on which the hours begin; every day when left out.'),
    fire: z.array(name).min(1).max(16).describe('The deterrents that it fires.'),
    choose: z
      .enum(['all', 'one'])
      .default('all')
      .describe('`one`: one of them at random, not the same twice in a row; animals get used to repetition.'),
    seconds: z
      .union([seconds, z.tuple([seconds, seconds])])
      .optional()
      .describe(
        'How long it fires; `[5, 12]` is a random length between the two. When left out, `seconds` of the deterrent.',
      ),
    aboutPersons: z
      .boolean()
      .default(false)
      .describe('When true, a person on its cameras does not block it. Its labels must name `person`.'),
  })
  .superRefine((each, context) => {
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (Array.isArray(each.seconds) && each.seconds[0] > each.seconds[1])
      problem('seconds', 'Write the shorter length first.')
    if (each.aboutPersons && !each.labels.some(isPersonLabel))
      problem('aboutPersons', 'A rule about persons has `person` among its labels.')
    if (each.days && !each.hours) problem('days', 'Days need hours; write `hours: 00:00-24:00` for whole days.')
  })

/** The part `rules` of gateway.yaml. */
export const rulesSettings = z
  .array(rule)
  .max(100)
  .superRefine((rules, context) => {
    for (const [index, each] of rules.entries())
      if (rules.findIndex((other) => other.name === each.name) < index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: 'Another rule has this name.' })
  })
export type Rule = z.output<typeof rule>
