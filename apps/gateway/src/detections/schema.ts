import { z } from 'zod'

/** The part `record` of gateway.yaml. */
export const recordSettings = z.strictObject({
  days: z.number().int().min(1).max(3_650).default(14).describe('Detections older than this are deleted.'),
  megabytes: z
    .number()
    .int()
    .min(8)
    .max(1_000_000)
    .default(200)
    .describe('The most space that the record may use; the oldest detections are deleted first.'),
})
export type RecordSettings = z.output<typeof recordSettings>
