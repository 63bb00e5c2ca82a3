import { z } from 'zod'
import { call } from './call.ts'

/** The kinds of data that can change; a client fetches that data again. */
export const eventTopic = z.enum([
  'gateways',
  'registrations',
  'activity',
  'stats',
  'users',
  'invitations',
  'settings',
  'certificates',
  'threats',
  'deterrents',
  'alerts',
])
export type EventTopic = z.output<typeof eventTopic>

export const hubEvent = z.object({ topic: eventTopic })
export type HubEvent = z.output<typeof hubEvent>

/** How many streams one person may have open at once; one more ends with `too_many_streams`. */
export const EVENT_STREAMS_PER_USER = 12

/**
 * A stream of server-sent events, `event: change` with a `HubEvent` as `data`, limited to what the caller may see and
 * to one event per topic in 250 ms. A comment follows every 15 s. The stream ends with the session. Read it with
 * `fetch` and the bearer token, reopen it after a pause, and then fetch everything again. No backlog: the hub stores no
 * missed events.
 */
export const hubEvents = call({
  method: 'GET',
  path: '/v1/hub/events',
  event: hubEvent,
  errors: ['too_many_streams'],
  response: null,
})
