import { z } from 'zod'
import { call } from './call.ts'

/** The hub's settings with their defaults (specification section 3; the registration and security switches are ours). */
export const hubSettings = z.strictObject({
  hubName: z.string().trim().max(100).default(''),
  hubDescription: z.string().trim().max(1_000).default(''),
  maxGateways: z.number().int().min(1).max(100_000).default(100),
  /** Seconds that an access token lives. */
  sessionTimeout: z.number().int().min(60).max(604_800).default(3_600),
  enableVpn: z.boolean().default(true),
  /** CIDR; refused while an address in use falls outside. */
  vpnNetwork: z.string().default('10.100.0.0/16'),
  enableNotifications: z.boolean().default(true),
  enableAuditLog: z.boolean().default(true),
  logRetentionDays: z.number().int().min(1).max(3_650).default(90),
  openRegistration: z.boolean().default(true),
  inviteCodeRequired: z.boolean().default(true),
  /** Passwords must also be uncommon and not hold their owner's name. */
  passwordComplexity: z.boolean().default(true),
  /** Everyone must set up two-factor sign-in before anything else. */
  twoFactorRequired: z.boolean().default(false),
  /** The portal tries a gateway's own address before the hub's proxy. */
  directHealthCheck: z.boolean().default(true),
})
export type HubSettings = z.output<typeof hubSettings>

export const readHubSettings = call({ method: 'GET', path: '/v1/hub/settings', response: hubSettings })
export const saveHubSettings = call({
  method: 'PUT',
  path: '/v1/hub/settings',
  body: hubSettings,
  response: hubSettings,
})
