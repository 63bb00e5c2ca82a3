import { z } from 'zod'
import { call } from './call.ts'

export const homeAssistantState = z.object({
  /** `off`: this hub has no broker. `away`: it tries again, at longer and longer intervals, a minute at most. */
  state: z.enum(['off', 'connecting', 'connected', 'away']),
  /** Host and port of the broker. */
  broker: z.string().nullable(),
  /** Since when it is so. */
  since: z.iso.datetime().nullable(),
  /** Why it is away, in a sentence. */
  problem: z.string().nullable(),
  /** Gateways that the broker has messages of. */
  devices: z.number().int(),
})
export type HomeAssistantState = z.output<typeof homeAssistantState>

/** The connection to the MQTT broker that tells Home Assistant of the fleet. */
export const readHomeAssistant = call({
  method: 'GET',
  path: '/v1/admin/home-assistant',
  response: homeAssistantState,
})
