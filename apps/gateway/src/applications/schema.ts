import { APPLICATION_TITLE_MAX, APPLICATIONS_MAX, applicationName, oneLine, role } from '@hedgerow/contract'
import { z } from 'zod'
import { certificateFingerprint } from '../known-tls.ts'
import { originSetting } from '../origin-setting.ts'
import { headerName, roleNames } from '../trusting-application.ts'
import { refusalOfUrl } from './reach.ts'

/** The application of `GATEWAY_UI_TARGET`, which has no name of its own. */
export const UI_TARGET_NAME = 'ui-target'
const LISTED_MAX = APPLICATIONS_MAX - 1

const listedName = applicationName.refine(
  (name) => name !== UI_TARGET_NAME,
  `\`${UI_TARGET_NAME}\` is the application of GATEWAY_UI_TARGET.`,
)

const headerMap = z
  .strictObject({
    user: headerName.describe("The header with the person's name in the hub."),
    role: headerName.optional().describe('The header with their role.'),
    roles: roleNames({ admin: 'admin', manager: 'manager', user: 'user' }).describe(
      'How the application calls each role of the hub.',
    ),
    secret: z
      .strictObject({
        header: headerName.describe('The header of the secret.'),
        value: z.string().min(1).max(500).describe('The secret; better as `"${NAME}"` or `!file PATH`.'),
      })
      .optional()
      .describe('The secret header by which the application recognizes this gateway.'),
  })
  .refine(({ user, role, secret }) => {
    const names = [user, role, secret?.header].filter((name) => name !== undefined)
    return new Set(names).size === names.length
  }, 'Each header occurs once.')

const listedApplication = z.strictObject({
  url: originSetting(['http:', 'https:'], 'This must be an address like http://192.168.1.1, without a path.')
    .refine((text) => refusalOfUrl(new URL(text)) === undefined, {
      error: ({ input }) => `An application may not be here: ${refusalOfUrl(new URL(String(input)))}.`,
    })
    .describe('Where the application answers. The hub reaches it through this gateway; the local network does not.'),
  title: oneLine(APPLICATION_TITLE_MAX)
    .min(1, 'A title has at least one character.')
    .optional()
    .describe('What Connect calls it. The name when left out.'),
  leastRole: role
    .default('user')
    .describe('The lowest role in the hub that may open it, among people who see the gateway.'),
  headerMap: headerMap
    .optional()
    .describe(
      'For an application that takes sign-in from a proxy: headers that name the person. Only this gateway sets them.',
    ),
  certificateFingerprint: certificateFingerprint
    .optional()
    .describe(
      'SHA-256 of the certificate, for an https address on another machine that signs its own, such as a router.',
    ),
})

/** The part `applications` of gateway.yaml: each web application by its name. */
export const applicationsSettings = z
  .record(listedName, listedApplication)
  .refine((all) => Object.keys(all).length <= LISTED_MAX, `A gateway has at most ${LISTED_MAX} applications.`)
export type HeaderMap = z.output<typeof headerMap>
export type ApplicationsSettings = z.output<typeof applicationsSettings>
