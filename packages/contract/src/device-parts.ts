/** Parts that the calls of a device have in common. */
import { z } from 'zod'
import type { DeviceErrorCode } from './device-errors.ts'

export const named = z.strictObject({ name: z.string().min(1).max(200) })
export const identified = z.strictObject({ id: z.string().min(1).max(200) })

export const pictureSize = z.strictObject({
  height: z.coerce.number().int().min(16).max(4_320).optional().describe('In pixels.'),
})
export const snapshotKind = z.strictObject({
  boxed: z.enum(['true', 'false']).optional().describe("With the object's box drawn, if it is known."),
})

const ofPictures = ['no_picture', 'camera_failed'] as const satisfies readonly DeviceErrorCode[]
export const pictureErrors = { latest: ofPictures, snapshot: ['detection_not_found', ...ofPictures] } as const
export const clipErrors = [...pictureErrors.snapshot, 'clip_not_finished'] as const

/** The steps from a new device to one that is connected to its hub. */
export const deviceConditions = z.array(
  z.object({
    step: z.string(),
    label: z.string(),
    state: z.enum(['waiting', 'done', 'failed']),
    at: z.string().nullable(),
    detail: z.string(),
  }),
)
