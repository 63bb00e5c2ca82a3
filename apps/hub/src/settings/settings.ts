/**
 * The hub's settings: the contract's defaults, overlaid with saved rows, one JSON value each. A row that this version
 * does not accept counts as unset and does not stop the hub. Every user reads them anew, inside its own transaction, or
 * reads those that `keepSettings` keeps, so a change takes effect at once; save.ts changes them.
 */
import { hubSettings, type HubSettings } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { cachedRead } from '../facts/cached-read.ts'

const NAMES = Object.keys(hubSettings.shape)

export async function readSettings(db: Db): Promise<HubSettings> {
  const rows = await db.selectFrom('settings').selectAll().where('name', 'in', NAMES).execute()
  const saved = Object.fromEntries(rows.map((row) => [row.name, parseJson(row.value)]))
  const parsed = hubSettings.safeParse(saved)
  if (parsed.success) return parsed.data
  for (const { path } of parsed.error.issues) delete saved[String(path[0])]
  return hubSettings.parse(saved)
}

/** Reads one setting, which is faster than all of them. */
export async function readSetting<Name extends keyof HubSettings>(db: Db, name: Name): Promise<HubSettings[Name]> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  const schema = hubSettings.shape[name]
  const saved = schema.safeParse(row && parseJson(row.value))
  return (saved.success ? saved.data : schema.parse(undefined)) as HubSettings[Name]
}

/** The settings in memory, for code that needs them many times a second. They are read again after each change. */
export const keepSettings = (db: Kysely<Tables>) =>
  cachedRead(db, { name: 'settings', kinds: ['settings.changed', 'settings.restored'] }, async () =>
    Object.freeze(await readSettings(db)),
  )

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

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
