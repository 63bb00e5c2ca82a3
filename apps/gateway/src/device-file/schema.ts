/**
 * The shape of `gateway.yaml`, the one file that configures what a device reports and does. Every key is optional; a
 * key that is not listed here is an error, so that a typo is noticed. Each part lives with the module that it
 * configures.
 */
import { z } from 'zod'
import { applicationsSettings } from '../applications/schema.ts'
import { camerasSettings } from '../cameras/schema.ts'
import { recordSettings } from '../detections/schema.ts'
import { disarmInputSettings } from '../deterrents/disarm-input.ts'
import { deterrentsSettings } from '../deterrents/schema.ts'
import { siteSettings } from '../kernel/hours.ts'
import { learningSettings } from '../learning/schema.ts'
import { rulesSettings } from '../rules/schema.ts'
import { secondLookSettings } from '../second-look/schema.ts'
import { sourcesSettings } from '../sources/schema.ts'
import { updatesSettings } from '../update/schema.ts'

export const deviceFile = z.strictObject({
  site: siteSettings.prefault({}).describe('Where the device is, for hours that follow the sun and a clock.'),
  cameras: camerasSettings.default({}).describe('Cameras by name. The eye looks at those in `sources.eye.cameras`.'),
  sources: sourcesSettings.prefault({}).describe('Where detections come from.'),
  secondLook: secondLookSettings
    .optional()
    .describe(
      'Stages that confirm detections. They fire nothing by themselves; rules may require `verdict: confirmed`.',
    ),
  deterrents: deterrentsSettings.default({}).describe('The devices that can be switched, by name.'),
  disarmInput: disarmInputSettings
    .optional()
    .describe('A line of a GPIO chip, through `gpiomon` of libgpiod 1 or 2: when it becomes active, everything stops.'),
  rules: rulesSettings.default([]).describe('Which detections fire which deterrents, and when.'),
  applications: applicationsSettings
    .default({})
    .describe("Web applications that the hub's Connect opens beside the device's own interface, by name."),
  learning: learningSettings.prefault({}).describe('Learning from reviews.'),
  updates: updatesSettings.prefault({}).describe('Whether and when the agent takes new versions from its hub.'),
  record: recordSettings.prefault({}).describe('Recent detections that the device itself keeps.'),
})

export type DeviceFile = z.output<typeof deviceFile>

/** The same shape as JSON Schema, for values as people write them, for documents and editors. */
export function deviceFileJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(deviceFile, { io: 'input', unrepresentable: 'any' }) }
}
