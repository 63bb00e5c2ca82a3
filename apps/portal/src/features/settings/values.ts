/** The settings as values of a form, with numbers as typed text. Parses and checks them. Pure. */
import { hubSettings, type HubSettings } from '@hedgerow/contract'

type NumberName =
  | 'maxGateways'
  | 'sessionTimeout'
  | 'logRetentionDays'
  | 'detectionsPerHour'
  | 'detectionMegabytesPerHour'
  | 'detectionsKept'
  | 'detectionMegabytesKept'
export type Values = Omit<HubSettings, NumberName> & Record<NumberName, string>
export type FieldName = keyof Values
export type FieldErrors = Partial<Record<FieldName, string>>
export type SwitchName = { [K in FieldName]: Values[K] extends boolean ? K : never }[FieldName]
export type TextName = { [K in FieldName]: string extends Values[K] ? K : never }[FieldName]

/** The tabs that are saved together, and where each field is. */
export type FormTab = 'general' | 'security' | 'network'
const TAB_OF: Record<FieldName, FormTab> = {
  hubName: 'general',
  hubDescription: 'general',
  maxGateways: 'general',
  enableNotifications: 'general',
  language: 'general',
  enableAuditLog: 'general',
  logRetentionDays: 'general',
  detectionsPerHour: 'general',
  detectionMegabytesPerHour: 'general',
  detectionsKept: 'general',
  detectionMegabytesKept: 'general',
  automaticUpdates: 'general',
  automaticUpdateHours: 'general',
  sessionTimeout: 'security',
  passwordComplexity: 'security',
  twoFactorRequired: 'security',
  openRegistration: 'security',
  inviteCodeRequired: 'security',
  enableVpn: 'network',
  vpnNetwork: 'network',
  directHealthCheck: 'network',
  homeAssistantCommands: 'network',
}
const NUMBERS: Record<NumberName, string> = {
  maxGateways: 'Enter a whole number from 1 to 100,000',
  sessionTimeout: 'Enter whole seconds from 60 (a minute) to 604,800 (a week)',
  logRetentionDays: 'Enter whole days from 1 to 3,650',
  detectionsPerHour: 'Enter a whole number from 1 to 1,000,000',
  detectionMegabytesPerHour: 'Enter whole megabytes from 1 to 100,000',
  detectionsKept: 'Enter a whole number from 1 to 10,000,000',
  detectionMegabytesKept: 'Enter whole megabytes from 10 to 10,000,000',
}
const isNumber = (name: FieldName): name is NumberName => Object.hasOwn(NUMBERS, name)
const NUMBER_NAMES = Object.keys(NUMBERS) as NumberName[]
const NAMES = Object.keys(TAB_OF) as FieldName[]

const eachNumber = <T>(of: (name: NumberName) => T) =>
  Object.fromEntries(NUMBER_NAMES.map((name) => [name, of(name)])) as Record<NumberName, T>

export const valuesOf = (settings: HubSettings): Values => ({
  ...settings,
  ...eachNumber((name) => String(settings[name])),
})

export type Checked = { settings: HubSettings } | { errors: FieldErrors }

/** The settings to save, or one error for each invalid field. */
export function checkValues(values: Values): Checked {
  const number = (name: NumberName) => (/^\s*\d+\s*$/.test(values[name]) ? Number(values[name]) : Number.NaN)
  const parsed = hubSettings.safeParse({ ...values, ...eachNumber(number) })
  if (parsed.success) return { settings: parsed.data }
  const errors: FieldErrors = {}
  for (const issue of parsed.error.issues) {
    const name = NAMES.find((field) => field === issue.path[0])
    if (name !== undefined) errors[name] ??= isNumber(name) ? NUMBERS[name] : issue.message
  }
  return { errors }
}

/** The first tab with an invalid field, in the order of the page. */
export function firstTabAtFault(errors: FieldErrors): FormTab | undefined {
  const at = NAMES.filter((name) => errors[name] !== undefined).map((name) => TAB_OF[name])
  return (['general', 'security', 'network'] as const).find((tab) => at.includes(tab))
}

export const sameValues = (a: Values, b: Values): boolean => NAMES.every((name) => a[name] === b[name])
