import { z } from 'zod'
import { hoursList } from '../kernel/hours.ts'

/** The part `updates` of gateway.yaml. */
export const updatesSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe('When false, the agent takes no update, not even one that a person asks for.'),
  hours: hoursList
    .optional()
    .describe('When it takes automatic updates of the hub. An update that a person asks for begins at once.'),
})
export type UpdatesSettings = z.output<typeof updatesSettings>
