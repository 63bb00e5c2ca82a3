import { useQuery } from '@tanstack/react-query'
import { listGatewayInvitations, revokeGatewayInvitation } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'
import { GATEWAY_INVITATIONS_KEY } from '#api/gateway-invitations.ts'

const REFRESH_MS = 30_000

export const useInvitations = (enabled: boolean) =>
  useQuery({
    queryKey: GATEWAY_INVITATIONS_KEY,
    queryFn: ({ signal }) => api(listGatewayInvitations, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

export const useRevokeInvitation = () =>
  useChange(GATEWAY_INVITATIONS_KEY, (id: string) => api(revokeGatewayInvitation, { params: { id } }))
