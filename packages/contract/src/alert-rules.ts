import { z } from 'zod'
import { call } from './call.ts'
import { changedFields } from './edits.ts'
import { hoursByDay, language, oneLine, tag, wholeNumber } from './fields.ts'
import { gatewayId } from './gateways.ts'
import { incident } from './threats.ts'

const some = <S extends z.ZodType>(of: S) => z.array(of).max(100)

/** The next people to notify while nobody has acknowledged an alert. */
const alertStep = z.strictObject({
  /** Minutes after the previous message was due. */
  afterMinutes: wholeNumber(1, 1_440),
  /** Names of channels; empty for all. */
  channels: some(oneLine(40).min(1)),
  /** Ids of users: mail goes to their own addresses instead of the hub's. */
  people: some(z.string().regex(/^[\w-]{1,64}$/, 'This is not the id of a user')),
})
export type AlertStep = z.output<typeof alertStep>

/** What a rule can announce. */
export const alertKind = z.enum([
  'detection',
  'gateway-quiet',
  'gateway-warning',
  'camera-dark',
  'deterrent-failed',
  'disk',
  'approval',
  'certificate',
  'backup',
])
export type AlertKind = z.output<typeof alertKind>

/**
 * Which things a rule announces, and to which people. Empty lists mean any, so a rule is given whole: a default would
 * announce everything to everybody. Labels, severity and the second look apply to detections only.
 */
export const alertRuleFields = z.strictObject({
  name: oneLine(100).min(1, 'Enter a name'),
  enabled: z.boolean(),
  what: z.array(alertKind).min(1, 'Choose what the rule announces').max(alertKind.options.length),
  /** How long a gateway or a camera must be away before the rule announces it. */
  holdOffMinutes: wholeNumber(0, 1_440),
  /** `alert`: only incidents with a detection of that severity. */
  severity: z.enum(['alert', 'any']),
  labels: some(oneLine(100).min(1)),
  /** Ids of sites; their names are understood too. */
  sites: some(oneLine(200).min(1)),
  /** Tags of gateways; one of them is enough. */
  tags: some(tag),
  gateways: some(gatewayId),
  cameras: some(oneLine(100).min(1)),
  /** Only detections that a second stage on the device has confirmed. */
  validatedOnly: z.boolean(),
  /** By the hub's clock; `from` after `to` means over midnight. Null for always. */
  hours: hoursByDay.nullable(),
  /** Incidents within this time become one message. */
  collectSeconds: wholeNumber(0, 600),
  /** After a message was sent, incidents are collected for this long. */
  coolDownSeconds: wholeNumber(0, 86_400),
  /** Names of channels. */
  channels: alertStep.shape.channels,
  people: alertStep.shape.people,
  /** The language of channels that several people share, null for the hub's; people have their own setting. */
  language: language.nullable(),
  /** Its push messages are also sent in people's quiet hours. */
  breaksThrough: z.boolean(),
  /** One after the other, until somebody acknowledges the alert. */
  steps: z.array(alertStep).max(5, 'At most 5 steps'),
})
export type AlertRuleFields = z.output<typeof alertRuleFields>

/** Fields that an older hub did not store. */
export const ALERT_RULE_DEFAULTS: Readonly<Omit<AlertRuleFields, 'name'>> = {
  enabled: true,
  what: ['detection'],
  holdOffMinutes: 5,
  severity: 'alert',
  labels: [],
  sites: [],
  tags: [],
  gateways: [],
  cameras: [],
  validatedOnly: false,
  hours: null,
  collectSeconds: 3,
  coolDownSeconds: 300,
  channels: [],
  people: [],
  language: null,
  breaksThrough: false,
  steps: [],
}

export const alertRule = alertRuleFields.extend({
  id: z.string(),
  /** Its last message: when it was written, and how many incidents it is about. */
  last: z.object({ at: z.iso.datetime(), incidents: z.number().int() }).nullable(),
})
export type AlertRule = z.output<typeof alertRule>

const byId = z.strictObject({ id: z.string().regex(/^[\w-]{1,40}$/, 'This is not the id of an alert rule') })

export const listAlertRules = call({ method: 'GET', path: '/v1/hub/alert-rules', response: z.array(alertRule) })

export const addAlertRule = call({
  method: 'POST',
  path: '/v1/hub/alert-rules',
  body: alertRuleFields,
  errors: ['too_many_alert_rules', 'site_not_found'],
  response: alertRule,
})

export const editAlertRule = call({
  method: 'PATCH',
  path: '/v1/hub/alert-rules/:id',
  params: byId,
  body: changedFields(alertRuleFields),
  errors: ['alert_rule_not_found', 'site_not_found', 'changed_meanwhile'],
  response: alertRule,
})

/** The whole of what `editAlertRule` changes. */
export const updateAlertRule = call({
  method: 'PUT',
  path: '/v1/hub/alert-rules/:id',
  deprecated: true,
  params: byId,
  body: alertRuleFields,
  errors: ['alert_rule_not_found', 'site_not_found'],
  response: alertRule,
})

export const deleteAlertRule = call({
  method: 'DELETE',
  path: '/v1/hub/alert-rules/:id',
  params: byId,
  errors: ['alert_rule_not_found'],
  response: null,
})

/** The incidents that a rule would have announced in the last seven days; of more than 10,000 only the newest. */
export const previewAlertRule = call({
  method: 'POST',
  path: '/v1/hub/alert-rules/preview',
  body: alertRuleFields,
  errors: ['site_not_found'],
  response: z.object({
    incidents: z.number().int(),
    /** The number of messages, by the rule's times for collecting and cooling down. */
    messages: z.number().int(),
    isWhole: z.boolean(),
    newest: z.array(incident),
  }),
})
