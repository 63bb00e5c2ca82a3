/**
 * Snoozes: for a while a camera or a whole gateway raises no alert and fires nothing, and what it sees is recorded and
 * marked. In maintenance outages of the gateway are no alert either. The device keeps them and ends them by itself.
 */
import { z } from 'zod'
import { cleanLine, epochMs } from './fields.ts'

/** `morning`: 7 o'clock at the gateway's place. */
export const SNOOZE_TIMES = ['30m', '2h', 'morning'] as const
export const snoozeTime = z.enum(SNOOZE_TIMES)
export type SnoozeTime = z.output<typeof snoozeTime>
export const SNOOZE_MAX_DAYS = 366
const SNOOZE_MAX_SECONDS = SNOOZE_MAX_DAYS * 86_400

export type SnoozeLasts = z.output<typeof snoozeLasts>
export const snoozeKind = z.enum(['snooze', 'maintenance'])
export type SnoozeKind = z.output<typeof snoozeKind>

export const cameraName = cleanLine(100).min(1)
/** In seconds, or until a time. */
export const snoozeLasts = z.union([snoozeTime, z.number().int().min(60).max(SNOOZE_MAX_SECONDS)])

/** Without a camera it is about the whole gateway. `lasts` is absent to end it. */
export const snoozeOrder = z.strictObject({
  kind: snoozeKind,
  camera: cameraName.optional(),
  lasts: snoozeLasts.optional(),
})
export type SnoozeOrder = z.output<typeof snoozeOrder>

/** One that lasts, by the device's wall clock; `camera` is null for the whole gateway. */
export const snooze = z.strictObject({
  kind: snoozeKind,
  camera: cleanLine(200).nullable(),
  by: cleanLine(200),
  at: epochMs,
  until: epochMs,
})
export type Snooze = z.output<typeof snooze>
export const SNOOZES_MAX = 66

/** The part of a heartbeat that comes with the feature `snooze`. */
export const heartbeatSnoozes = z.strictObject({ snoozes: z.array(snooze).max(SNOOZES_MAX).optional() })

/** The field of a detection that comes with the feature `snooze`. */
export const detectionSnoozed = z.strictObject({
  /** Its camera or the whole gateway was snoozed when it began: it is recorded and announced to nobody. */
  snoozed: z.boolean().optional(),
})
