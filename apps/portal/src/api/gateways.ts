import { GATEWAY_LIST_REFRESH_MS } from '@hedgerow/contract/constants'
import { useQuery, type QueryClient } from '@tanstack/react-query'
import { listGateways } from 'virtual:contract-calls'
import { api } from './client.ts'

export const GATEWAYS_KEY = ['gateways'] as const
/** Of the pages of single gateways. */
export const GATEWAY_KEY = ['gateway'] as const

export const refetchGateways = (queries: QueryClient) =>
  Promise.all([GATEWAYS_KEY, GATEWAY_KEY].map((queryKey) => queries.invalidateQueries({ queryKey })))

/** The gateways that the person may see. The list, the dashboard and the command palette share this poll. */
export const useGateways = ({ enabled = true }: { enabled?: boolean } = {}) =>
  useQuery({
    queryKey: GATEWAYS_KEY,
    queryFn: ({ signal }) => api(listGateways, { signal }),
    refetchInterval: GATEWAY_LIST_REFRESH_MS,
    enabled,
  })

/** One of these gateways; undefined for one that is not among them. */
export const useKnownGateway = (id: string) => useGateways().data?.find((gateway) => gateway.id === id)

const STATUS = {
  online: { shape: 'dot', word: 'Online' },
  offline: { shape: 'away', word: 'Offline' },
  warning: { shape: 'diamond', word: 'Warning' },
} as const

/** The mark of a status. An unknown status of a newer hub is shown unchanged and neutral. */
export function statusMark(status: string): { shape: 'dot' | 'away' | 'diamond' | 'neutral'; word: string } {
  return Object.hasOwn(STATUS, status) ? STATUS[status as keyof typeof STATUS] : { shape: 'neutral', word: status }
}
