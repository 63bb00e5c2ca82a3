/**
 * The shape of `gateway.yaml`, the one file that configures what a device reports and does. Every key is optional; a
 * key that is not listed here is an error, so that a typo is noticed. Each part lives with the module that it
 * configures.
 */
import { z } from 'zod'
import { recordSettings } from '../detections/schema.ts'
import { sourcesSettings } from '../sources/schema.ts'

export const deviceFile = z.strictObject({
  sources: sourcesSettings.prefault({}).describe('Where detections come from.'),
  record: recordSettings.prefault({}).describe('What the device itself keeps of recent detections.'),
})

export type DeviceFile = z.output<typeof deviceFile>
