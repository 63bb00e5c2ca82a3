import { GATEWAY_LIST_REFRESH_MS } from '@hedgerow/contract'
import type { BodyOf } from '@hedgerow/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { addGateway, claimGateway, gatewayVpnConfig, listGateways } from 'virtual:contract-calls'
import { api } from '#api/client.ts'

const GATEWAYS_KEY = ['gateways'] as const

export const useGateways = () =>
  useQuery({
    queryKey: GATEWAYS_KEY,
    queryFn: ({ signal }) => api(listGateways, { signal }),
    refetchInterval: GATEWAY_LIST_REFRESH_MS,
  })

/** Not kept once nobody looks: it may hold a private key. */
export const useVpnConfig = (id: string) =>
  useQuery({
    queryKey: ['gateways', id, 'vpn-config'],
    queryFn: ({ signal }) => api(gatewayVpnConfig, { params: { id }, signal }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })

export function useAddGateway() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof addGateway>) => api(addGateway, { body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: GATEWAYS_KEY, exact: true }),
  })
}

export function useClaimGateway() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof claimGateway>) => api(claimGateway, { body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: GATEWAYS_KEY, exact: true }),
  })
}
