import { z } from 'zod'
import { alertKind } from './alert-rules.ts'
import { call } from './call.ts'
import { gatewayId } from './gateways.ts'
import { incidentId } from './detections.ts'
import { language } from './fields.ts'

const id = z.string().regex(/^[\w-]{1,40}$/, 'This is not the id of an alert')
/** The token of a link in a message; valid for 7 days, for one alert. */
// Also what a mail program cut or changed: the answer is `alert_link_invalid`, in words for the person with the link.
const linkToken = z.string().regex(/^[ -~]{0,1000}$/, 'This link is not complete')

export const acknowledgement = z.object({
  /** A username; empty when the link of a shared channel was used, because nobody knows by whom. */
  by: z.string(),
  /** `portal`, or the name of the channel whose link was used. */
  via: z.string(),
  at: z.iso.datetime(),
})
export type Acknowledgement = z.output<typeof acknowledgement>

/** The content of one message of an alert rule. It grows while its message waits. */
export const alert = z.object({
  id,
  ruleName: z.string(),
  /** `test`: a notice that only its caller gets, by `sendTestNotification`. */
  kind: z.enum([...alertKind.options, 'test']),
  title: z.string(),
  /** A line for each thing, at most 10 and one that counts the others. */
  lines: z.array(z.string()),
  /** The page of the portal about it. */
  path: z.string(),
  at: z.iso.datetime(),
  count: z.number().int(),
  picture: z.object({ gatewayId, detectionId: z.string() }).nullable(),
  /** How many steps of its rule were sent without an acknowledgement, and when the next one is due. */
  step: z.number().int(),
  nextStepAt: z.iso.datetime().nullable(),
  acknowledged: acknowledgement.nullable(),
  /** When everything that it is about was over: outages and requests only. */
  clearedAt: z.iso.datetime().nullable(),
})
export type Alert = z.output<typeof alert>

/** The newest 50 alerts that the caller may see, newest first; or all alerts about one incident. */
export const listAlerts = call({
  method: 'GET',
  path: '/v1/hub/alerts',
  query: z.strictObject({ incident: incidentId.optional() }),
  response: z.array(alert),
})

/** The gateways that an alert is about, of those that the caller may see. */
export const listAlertGateways = call({
  method: 'GET',
  path: '/v1/hub/alerts/:id/gateways',
  params: z.strictObject({ id }),
  errors: ['alert_not_found'],
  response: z.array(gatewayId),
})

/** Ends the steps of an alert. The first acknowledgement is kept. */
export const acknowledgeAlert = call({
  method: 'POST',
  path: '/v1/hub/alerts/:id/acknowledge',
  params: z.strictObject({ id }),
  errors: ['alert_not_found'],
  response: alert,
})

const linked = z.object({
  title: z.string(),
  lines: z.array(z.string()),
  acknowledged: acknowledgement.nullable(),
  /** Of the title and the lines, and of the page that shows them. */
  language,
})

/** Reads the alert of a link in a message. It changes nothing, so programs that preview links do no harm. */
export const readAlertLink = call({
  method: 'POST',
  path: '/v1/alert-links/read',
  body: z.strictObject({ token: linkToken }),
  errors: ['alert_link_invalid', 'alert_not_found'],
  response: linked,
})

/** Acknowledges by the link of a message, without a session. A second use changes nothing. */
export const acknowledgeByLink = call({
  method: 'POST',
  path: '/v1/alert-links/acknowledge',
  body: z.strictObject({ token: linkToken }),
  errors: ['alert_link_invalid', 'alert_not_found'],
  response: linked,
})

/** The picture of an alert, for a push message: a browser that shows one sends no session. */
export const readAlertPicture = call({
  method: 'GET',
  path: '/v1/alert-links/picture',
  query: z.strictObject({ token: linkToken }),
  errors: ['alert_link_invalid', 'alert_not_found', 'detection_not_found'],
  media: 'image/jpeg',
  response: null,
})
