import { z } from 'zod'
import { call } from './call.ts'
import { changedFields, wholeBody } from './edits.ts'
import { hoursOfDay, language, oneLine, severalLines, wholeNumber } from './fields.ts'

const fields = z.strictObject({
  hubName: oneLine(100),
  hubDescription: severalLines(1_000),
  maxGateways: wholeNumber(1, 100_000),
  /** The lifetime of an access token in seconds. */
  sessionTimeout: wholeNumber(60, 604_800),
  enableVpn: z.boolean(),
  /** CIDR; refused when a gateway has an address outside it. */
  vpnNetwork: oneLine(50),
  enableNotifications: z.boolean(),
  /** Of messages to people who have chosen none, and over shared channels where no alert rule has another. */
  language,
  enableAuditLog: z.boolean(),
  logRetentionDays: wholeNumber(1, 3_650),
  /** The limit of one gateway. Further detections are refused, and the gateway sends them later. */
  detectionsPerHour: wholeNumber(1, 1_000_000),
  /** The limit of one gateway, thumbnails included. */
  detectionMegabytesPerHour: wholeNumber(1, 100_000),
  /** The limit of one gateway; the oldest are deleted first. */
  detectionsKept: wholeNumber(1, 10_000_000),
  /** The limit of all gateways together; the oldest detections of the gateway with the most data are deleted first. */
  detectionMegabytesKept: wholeNumber(10, 10_000_000),
  /** Gateways get a new release in rings: one, ten, all. */
  automaticUpdates: z.boolean(),
  /**
   * The hours in which automatic updates begin, by the hub's clock: `02:00-05:00`, also over midnight; empty for
   * always.
   */
  automaticUpdateHours: hoursOfDay,
  openRegistration: z.boolean(),
  inviteCodeRequired: z.boolean(),
  /** Passwords must also be uncommon and must not contain their owner's name. */
  passwordComplexity: z.boolean(),
  /** Everyone must set up two-factor sign-in before anything else. */
  twoFactorRequired: z.boolean(),
  /** The portal tries a gateway's own address before the hub's proxy. */
  directHealthCheck: z.boolean(),
  /** Whether commands from the MQTT broker are carried out, with the rights of a manager. */
  homeAssistantCommands: z.boolean(),
})
const { shape } = fields

/**
 * The hub's settings with their defaults.
 */
export const hubSettings = z.strictObject({
  hubName: shape.hubName.default(''),
  hubDescription: shape.hubDescription.default(''),
  maxGateways: shape.maxGateways.default(100),
  sessionTimeout: shape.sessionTimeout.default(3_600),
  enableVpn: shape.enableVpn.default(true),
  vpnNetwork: shape.vpnNetwork.default('10.100.0.0/16'),
  enableNotifications: shape.enableNotifications.default(true),
  language: shape.language.default('en'),
  enableAuditLog: shape.enableAuditLog.default(true),
  logRetentionDays: shape.logRetentionDays.default(90),
  detectionsPerHour: shape.detectionsPerHour.default(3_600),
  detectionMegabytesPerHour: shape.detectionMegabytesPerHour.default(64),
  detectionsKept: shape.detectionsKept.default(100_000),
  detectionMegabytesKept: shape.detectionMegabytesKept.default(4_096),
  automaticUpdates: shape.automaticUpdates.default(false),
  automaticUpdateHours: shape.automaticUpdateHours.default(''),
  openRegistration: shape.openRegistration.default(true),
  inviteCodeRequired: shape.inviteCodeRequired.default(true),
  passwordComplexity: shape.passwordComplexity.default(true),
  twoFactorRequired: shape.twoFactorRequired.default(false),
  directHealthCheck: shape.directHealthCheck.default(true),
  homeAssistantCommands: shape.homeAssistantCommands.default(false),
})
export type HubSettings = z.output<typeof hubSettings>

export const readHubSettings = call({ method: 'GET', path: '/v1/hub/settings', response: hubSettings })

const EDIT_ERRORS = ['vpn_network_in_use', 'vpn_start_failed', 'changed_meanwhile'] as const

/**
 * The nine settings of the specification, which are the whole object of its clients. The hub's further settings keep
 * their values when they are left out: no client can lose what it does not know.
 */
const SPECIFIED = {
  hubName: true,
  hubDescription: true,
  maxGateways: true,
  sessionTimeout: true,
  enableVpn: true,
  vpnNetwork: true,
  enableNotifications: true,
  enableAuditLog: true,
  logRetentionDays: true,
} as const

/** The nine settings, and any others. All changes are in effect when the call answers. */
export const saveHubSettings = call({
  method: 'PUT',
  path: '/v1/hub/settings',
  body: wholeBody(fields.partial().required(SPECIFIED)),
  errors: EDIT_ERRORS,
  response: hubSettings,
})

/** As `saveHubSettings`; settings that are left out keep their values. */
export const editHubSettings = call({
  method: 'PATCH',
  path: '/v1/hub/settings',
  body: changedFields(fields),
  errors: EDIT_ERRORS,
  response: hubSettings,
})
