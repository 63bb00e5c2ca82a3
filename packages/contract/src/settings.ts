import { z } from 'zod'

/** The hub's settings with their defaults (specification section 3). */
export const hubSettings = z.object({
  hubName: z.string().default(''),
  hubDescription: z.string().default(''),
  maxGateways: z.number().int().min(1).default(100),
  /** Seconds that an access token lives. */
  sessionTimeout: z.number().int().min(60).default(3_600),
  vpnNetwork: z.string().default('10.100.0.0/16'),
})
export type HubSettings = z.output<typeof hubSettings>
