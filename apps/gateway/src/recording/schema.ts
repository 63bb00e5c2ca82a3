import { z } from 'zod'

const seconds = z.number().int().min(0)

/** The part `sources.eye.recording` of gateway.yaml. */
export const recordingSettings = z.strictObject({
  clips: z.boolean().default(true).describe('Whether clips are recorded in addition to pictures. They need FFmpeg.'),
  secondsBefore: seconds.max(15).default(5).describe('Seconds of a clip before the object appears.'),
  secondsAfter: seconds.max(60).default(10).describe('Seconds of a clip after the object has left.'),
  days: z.number().int().min(1).max(3_650).default(14).describe('Recordings older than this are deleted.'),
  megabytes: z
    .number()
    .int()
    .min(8)
    .max(10_000_000)
    .default(2_000)
    .describe('The most space that recordings may use; those reviewed as wrong are deleted first, then the oldest.'),
})
export type RecordingSettings = z.output<typeof recordingSettings>
