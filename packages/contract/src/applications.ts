import { z } from 'zod'
import { role } from './accounts.ts'
import { cleanLine } from './fields.ts'

/** The port of its applications on a gateway's tunnel address. The gateway's own interface is on `GATEWAY_PORT`. */
export const GATEWAY_APPLICATIONS_PORT = 8082

/** Set by the hub's proxy: the application that a request is for, or `DEVICE_INTERFACE`. */
export const APPLICATION_HEADER = 'x-hub-application'
/** The gateway's own interface; no application has this name. */
export const DEVICE_INTERFACE = 'device'

export const APPLICATIONS_MAX = 16
export const APPLICATION_TITLE_MAX = 100

/** Part of a DNS label and of a cookie's name; together with a gateway's id it identifies an origin. */
export const applicationName = z
  .string()
  .regex(
    /^[a-z](?:[a-z0-9-]{0,22}[a-z0-9])?$/,
    'A name has at most 24 lower-case letters, digits and hyphens, and begins with a letter.',
  )
  .refine((name) => name !== DEVICE_INTERFACE, `\`${DEVICE_INTERFACE}\` is the device's own interface.`)

/** A web application that a gateway offers beside its own interface: Frigate, the page of a router. */
export const application = z.strictObject({
  name: applicationName,
  /** The title for people. */
  title: cleanLine(APPLICATION_TITLE_MAX),
  /** The least role that may open it; `user` when left out. Comes with the feature `application-roles`. */
  leastRole: role.optional(),
})
export type Application = z.output<typeof application>

export const applications = z
  .array(application)
  .max(APPLICATIONS_MAX)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'Each name occurs once.')
