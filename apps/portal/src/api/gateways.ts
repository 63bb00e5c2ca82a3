import { GATEWAY_LIST_REFRESH_MS } from '@hedgerow/contract'
import { useQuery } from '@tanstack/react-query'
import { listGateways } from 'virtual:contract-calls'
import { api } from './client.ts'

export const GATEWAYS_KEY = ['gateways'] as const

/** The fleet that the person may see: shared by the list, the dashboard and the command palette, polled once. */
export const useGateways = ({ enabled = true }: { enabled?: boolean } = {}) =>
  useQuery({
    queryKey: GATEWAYS_KEY,
    queryFn: ({ signal }) => api(listGateways, { signal }),
    refetchInterval: GATEWAY_LIST_REFRESH_MS,
    enabled,
  })

const STATUS = {
  online: { shape: 'dot', word: 'Online' },
  offline: { shape: 'ring', word: 'Offline' },
  warning: { shape: 'diamond', word: 'Warning' },
} as const

/** How a gateway's status is marked; a value from a newer hub is shown as it is, and neutral. */
export function statusMark(status: string): { shape: 'dot' | 'ring' | 'diamond' | 'neutral'; word: string } {
  return Object.hasOwn(STATUS, status) ? STATUS[status as keyof typeof STATUS] : { shape: 'neutral', word: status }
}
