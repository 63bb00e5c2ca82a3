/**
 * The shape of `gateway.yaml`, the one file that configures what a device reports and does. Every key is optional; a
 * key that is not listed here is an error, so that a slip of the pen is never silently without effect.
 */
import { z } from 'zod'

const TOKEN_MIN = 16

export const deviceFile = z.strictObject({
  sources: z
    .strictObject({
      api: z
        .strictObject({
          token: z
            .string()
            .min(TOKEN_MIN, `A token has at least ${TOKEN_MIN} characters.`)
            .max(200, 'A token has at most 200 characters.')
            .optional()
            .describe('What a program sends as `Authorization: Bearer …`. Without it, only loopback can report.'),
          loopbackNeedsToken: z
            .boolean()
            .default(true)
            .describe('When false, programs on the device itself report without the token.'),
        })
        .optional()
        .describe('Any program reports detections over HTTP. When left out, the API refuses every report.'),
    })
    .default({})
    .describe('Where detections come from.'),
})

export type DeviceFile = z.output<typeof deviceFile>
