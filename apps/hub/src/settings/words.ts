/** Changes of the hub's settings in words, for the audit and the dashboard. Pure. */
import type { HubSettings } from '@hedgerow/contract'

/** The names on the settings screen. */
export const SETTING_LABELS: Readonly<Record<keyof HubSettings, string>> = {
  hubName: 'hub name',
  hubDescription: 'hub description',
  maxGateways: 'maximum number of gateways',
  sessionTimeout: 'session timeout',
  enableVpn: 'VPN',
  vpnNetwork: 'VPN network',
  enableNotifications: 'notifications',
  language: 'language of messages',
  enableAuditLog: 'audit log',
  logRetentionDays: 'keep records for (days)',
  detectionsPerHour: 'detections per gateway and hour',
  detectionMegabytesPerHour: 'megabytes of detections per gateway and hour',
  automaticUpdates: 'automatic updates',
  automaticUpdateHours: 'hours of automatic updates',
  detectionsKept: 'detections kept per gateway',
  detectionMegabytesKept: 'megabytes of detections kept in total',
  openRegistration: 'open registration',
  inviteCodeRequired: 'invite code required',
  passwordComplexity: 'password complexity',
  twoFactorRequired: 'two-factor authentication',
  directHealthCheck: 'direct health check',
  homeAssistantCommands: 'commands from Home Assistant',
}

/** `VPN: on → off`, one for each setting that differs. A text of several lines is too long to show. */
export function settingChanges(before: HubSettings, after: HubSettings): string[] {
  return (Object.keys(after) as (keyof HubSettings)[])
    .filter((name) => after[name] !== before[name])
    .map((name) =>
      name === 'hubDescription'
        ? `${SETTING_LABELS[name]} changed`
        : `${SETTING_LABELS[name]}: ${shown(before[name])} → ${shown(after[name])}`,
    )
}

function shown(value: HubSettings[keyof HubSettings]): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return value === '' ? 'nothing' : String(value)
}
