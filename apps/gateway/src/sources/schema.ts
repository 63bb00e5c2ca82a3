import { z } from 'zod'
import { eyeSettings } from './eye/schema.ts'
import { frigateSettings } from './frigate/schema.ts'

const TOKEN_MIN = 16

const apiSettings = z.strictObject({
  token: z
    .string()
    .min(TOKEN_MIN, `A token has at least ${TOKEN_MIN} characters.`)
    .max(200, 'A token has at most 200 characters.')
    .optional()
    .describe(
      'The token that a program sends as `Authorization: Bearer …`. Without it, only programs on the device ' +
        'itself can report, while `loopbackNeedsToken` is false.',
    ),
  loopbackNeedsToken: z
    .boolean()
    .default(true)
    .describe('When false, programs on the device itself report without the token.'),
})

/** The part `sources` of gateway.yaml. Each source's own part lives in the folder of that source. */
export const sourcesSettings = z.strictObject({
  eye: eyeSettings.optional().describe('The gateway looks at its cameras itself.'),
  frigate: frigateSettings.optional().describe('A Frigate on this device or in its network.'),
  api: apiSettings
    .optional()
    .describe('Any program reports detections over HTTP. When left out, the API refuses every report.'),
})
