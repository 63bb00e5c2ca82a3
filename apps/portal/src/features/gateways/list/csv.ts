import type { Gateway } from '@hedgerow/contract'
import { CSV_START, csvLine } from '@hedgerow/contract/csv'
import { GATEWAY_TEXTS } from '@hedgerow/contract/gateway-fields'

const COLUMNS = [
  'id',
  'name',
  'status',
  'statusReason',
  'site',
  ...GATEWAY_TEXTS,
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

/** The gateways as a CSV file, without their device tokens and keys. */
export function gatewaysAsCsv(gateways: readonly Gateway[]): string {
  const valuesOf = (gateway: Gateway) =>
    COLUMNS.map((name) => {
      const value = name === 'site' ? (gateway.site?.name ?? '') : gateway[name]
      return typeof value === 'object' ? (value?.join(' ') ?? null) : value
    })
  return CSV_START + [csvLine(COLUMNS), ...gateways.map((gateway) => csvLine(valuesOf(gateway)))].join('')
}
