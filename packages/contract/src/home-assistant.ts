import { z } from 'zod'
import { call } from './call.ts'

export const homeAssistantState = z.object({
  /** `off`: this hub has no broker. `away`: the hub tries again at growing intervals of at most a minute. */
  state: z.enum(['off', 'connecting', 'connected', 'away']),
  /** Host and port of the broker. */
  broker: z.string().nullable(),
  /** When this state began. */
  since: z.iso.datetime().nullable(),
  /** The reason for `away`, in a sentence. */
  problem: z.string().nullable(),
  /** How many gateways have messages at the broker. */
  devices: z.number().int(),
})
export type HomeAssistantState = z.output<typeof homeAssistantState>

/** The connection to the MQTT broker through which Home Assistant shows the fleet. */
export const readHomeAssistant = call({
  method: 'GET',
  path: '/v1/admin/home-assistant',
  response: homeAssistantState,
})
