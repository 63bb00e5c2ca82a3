import { z } from 'zod'
import { call } from './call.ts'

/** What can change: each names what to ask for again. */
export const eventTopic = z.enum([
  'gateways',
  'registrations',
  'activity',
  'stats',
  'users',
  'invitations',
  'settings',
  'certificates',
])
export type EventTopic = z.output<typeof eventTopic>

export const hubEvent = z.object({ topic: eventTopic })
export type HubEvent = z.output<typeof hubEvent>

/** How many streams one person may hold open at once; one more ends with `too_many_streams`. */
export const EVENT_STREAMS_PER_USER = 12

/**
 * A stream of server-sent events, `event: change` with a `HubEvent` as `data`, for what the caller may see; at most one
 * of a topic in 250 ms. A comment comes every 15 s. The stream ends with the session: read it with `fetch` and the
 * bearer token, open it again after a pause, and ask for everything again then, since nothing is kept for who was away.
 */
export const hubEvents = call({
  method: 'GET',
  path: '/v1/hub/events',
  event: hubEvent,
  errors: ['too_many_streams'],
  response: null,
})
