/**
 * The shape of `gateway.yaml`, the one file that configures what a device reports and does. Every key is optional; a
 * key that is not listed here is an error, so that a typo is noticed. Each part lives with the module that it
 * configures.
 */
import { z } from 'zod'
import { sourcesSettings } from '../sources/schema.ts'

export const deviceFile = z.strictObject({
  sources: sourcesSettings.default({}).describe('Where detections come from.'),
})

export type DeviceFile = z.output<typeof deviceFile>
