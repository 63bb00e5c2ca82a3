import type { BodyOf, createGatewayInvitation as createCall, ResponseOf } from '@hedgerow/contract'
import { useQuery } from '@tanstack/react-query'
import { createGatewayInvitation, listGatewayInvitations } from 'virtual:contract-calls'
import { api } from './client.ts'
import { useChange } from './use-change.ts'

export const GATEWAY_INVITATIONS_KEY = ['gateway-invitations'] as const
const REFRESH_MS = 30_000

export const useInvitations = (enabled: boolean) =>
  useQuery({
    queryKey: GATEWAY_INVITATIONS_KEY,
    queryFn: ({ signal }) => api(listGatewayInvitations, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

export type MadeGatewayInvitation = ResponseOf<typeof createCall>

/** Not cached, because the answer contains the code. */
export const useCreateGatewayInvitation = () =>
  useChange(GATEWAY_INVITATIONS_KEY, (body: BodyOf<typeof createCall>) => api(createGatewayInvitation, { body }), {
    gcTime: 0,
  })
