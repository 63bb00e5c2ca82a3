import { z } from 'zod'
import { recordingSettings } from '../../recording/schema.ts'

/** The part `sources.eye` of gateway.yaml. */
export const eyeSettings = z.strictObject({
  cameras: z.array(z.string().min(1).max(100)).min(1).max(64).describe('Names of `cameras` that are looked at.'),
  model: z
    .literal('none')
    .default('none')
    .describe('`none`: movement and the demonstration eye, which knows drawn outlines only. For trying, not for use.'),
  labels: z
    .array(z.string().min(1).max(100))
    .min(1)
    .optional()
    .describe('Reports these labels only; all when left out.'),
  minimumScore: z.number().min(0.1).max(1).default(0.6).describe('How sure a detection must be once, 0 to 1.'),
  recording: recordingSettings.prefault({}).describe('Pictures and clips of detections, kept on the device.'),
})
export type EyeSettings = z.output<typeof eyeSettings>
