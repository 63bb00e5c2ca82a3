import { z } from 'zod'
import { certificateFingerprint } from '../../known-tls.ts'
import { originSetting } from '../../origin-setting.ts'
import { headerName, roleNames } from '../../trusting-application.ts'

const secret = (what: string) => z.string().min(1).max(500).describe(what)

const broker = z.strictObject({
  url: originSetting(
    ['mqtt:', 'mqtts:'],
    'This must be an address like mqtt://192.168.1.10 or mqtts://broker.lan:8883.',
  ).describe('The broker: `mqtt://HOST[:PORT]` or `mqtts://HOST[:PORT]`.'),
  username: secret('The name to sign in to the broker with.').optional(),
  password: secret('Its password; better as `"${NAME}"` or `!file PATH`.').optional(),
  topicPrefix: z
    .string()
    .regex(/^[^+#]{1,200}$/, 'A topic prefix has no + and no #.')
    .default('frigate')
    .describe("Frigate's own `mqtt.topic_prefix`."),
})

/**
 * The part `sources.frigate` of gateway.yaml. Frigate below a path is not supported: its own interface would then need
 * a path of its own too.
 */
export const frigateSettings = z
  .strictObject({
    url: originSetting(
      ['http:', 'https:'],
      'This must be an address like http://127.0.0.1:5000, without a path.',
    ).describe('Where Frigate answers: port 5000 (no sign-in), or port 8971 with https.'),
    interface: originSetting(
      ['http:', 'https:'],
      'This must be an address like https://127.0.0.1:8971, without a path.',
    )
      .optional()
      .describe(
        "The address of Frigate's own interface for the hub's Connect, when it differs from `url`. `proxySecret` " +
          'and `roles` apply there.',
      ),
    user: secret('A user of Frigate, when it asks for sign-in. The role viewer is enough.').optional(),
    password: secret('Its password; better as `"${NAME}"` or `!file PATH`.').optional(),
    proxySecret: secret(
      "Frigate's `proxy.auth_secret`. With it the agent names the caller, and the hub's roles apply in Frigate's " +
        'own interface.',
    ).optional(),
    userHeader: headerName.default('x-forwarded-user').describe("Frigate's `proxy.header_map.user`."),
    roleHeader: headerName.default('x-forwarded-groups').describe("Frigate's `proxy.header_map.role`."),
    roles: roleNames({ admin: 'admin', manager: 'admin', user: 'viewer' }).describe(
      'The role in Frigate for each role of the hub.',
    ),
    certificateFingerprint: certificateFingerprint
      .optional()
      .describe('SHA-256 of the certificate, for an https address on another machine that signs its own.'),
    mqtt: broker
      .optional()
      .describe(
        "Listens to Frigate's messages at this broker instead of over its WebSocket. Pictures, missed items and " +
          'statistics still come from `url`.',
      ),
    cameras: z
      .array(z.string().min(1).max(100))
      .min(1)
      .max(64)
      .optional()
      .describe("Reports these cameras only, by Frigate's names. All when left out."),
    severity: z
      .enum(['alert', 'detection'])
      .default('detection')
      .describe('`alert`: reports the alerts of Frigate only, and not what it calls detections.'),
    backfillHours: z
      .number()
      .min(0)
      .max(168)
      .default(24)
      .describe(
        'After a time without a connection to Frigate, the gateway fetches the items of this many hours at most.',
      ),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    message: '`user` and `password` belong together.',
    path: ['user'],
  })

export type FrigateSettings = z.output<typeof frigateSettings>
