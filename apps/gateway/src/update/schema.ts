import { z } from 'zod'
import { hoursList } from '../hours.ts'

/** The part `updates` of gateway.yaml. */
export const updatesSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('When false, the agent takes no update, whoever asks for it.'),
  hours: hoursList
    .optional()
    .describe('When it takes updates that the hub begins by itself. One that a person asks for comes at once.'),
})
export type UpdatesSettings = z.output<typeof updatesSettings>
