import type { Gateway } from '@hedgerow/contract'

const COLUMNS = [
  'id',
  'name',
  'status',
  'statusReason',
  'location',
  'description',
  'tags',
  'kind',
  'publicIp',
  'vpnInternalIp',
  'version',
  'lastSeen',
  'connectedUsers',
  'owner',
  'createdAt',
] as const satisfies readonly (keyof Gateway)[]

/** RFC 4180. A spreadsheet would take a text that begins with one of these characters as a formula. */
function field(value: string | number | readonly string[] | null): string {
  const text = typeof value === 'object' ? (value?.join(' ') ?? '') : String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}

/** The gateways as a CSV file, without their device tokens and keys. */
export function gatewaysAsCsv(gateways: readonly Gateway[]): string {
  const lines = [COLUMNS.map(field), ...gateways.map((gateway) => COLUMNS.map((name) => field(gateway[name])))]
  return lines.map((line) => `${line.join(',')}\r\n`).join('')
}
