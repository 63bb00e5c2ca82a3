import { z } from 'zod'
import { call } from './call.ts'
import { hoursOfDay, language, oneLine, severalLines, wholeNumber } from './fields.ts'

const fields = {
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
}

/**
 * The hub's settings with their defaults.
 */
export const hubSettings = z.strictObject({
  hubName: fields.hubName.default(''),
  hubDescription: fields.hubDescription.default(''),
  maxGateways: fields.maxGateways.default(100),
  sessionTimeout: fields.sessionTimeout.default(3_600),
  enableVpn: fields.enableVpn.default(true),
  vpnNetwork: fields.vpnNetwork.default('10.100.0.0/16'),
  enableNotifications: fields.enableNotifications.default(true),
  language: fields.language.default('en'),
  enableAuditLog: fields.enableAuditLog.default(true),
  logRetentionDays: fields.logRetentionDays.default(90),
  detectionsPerHour: fields.detectionsPerHour.default(3_600),
  detectionMegabytesPerHour: fields.detectionMegabytesPerHour.default(64),
  detectionsKept: fields.detectionsKept.default(100_000),
  detectionMegabytesKept: fields.detectionMegabytesKept.default(4_096),
  automaticUpdates: fields.automaticUpdates.default(false),
  automaticUpdateHours: fields.automaticUpdateHours.default(''),
  openRegistration: fields.openRegistration.default(true),
  inviteCodeRequired: fields.inviteCodeRequired.default(true),
  passwordComplexity: fields.passwordComplexity.default(true),
  twoFactorRequired: fields.twoFactorRequired.default(false),
  directHealthCheck: fields.directHealthCheck.default(true),
  homeAssistantCommands: fields.homeAssistantCommands.default(false),
})
export type HubSettings = z.output<typeof hubSettings>

export const readHubSettings = call({ method: 'GET', path: '/v1/hub/settings', response: hubSettings })

/** All changes are in effect when the call answers. An omitted field keeps its value. */
export const saveHubSettings = call({
  method: 'PUT',
  path: '/v1/hub/settings',
  body: z.strictObject(fields).partial(),
  errors: ['vpn_network_in_use', 'vpn_start_failed'],
  response: hubSettings,
})
