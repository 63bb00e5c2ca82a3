import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { listGatewayInvitations, revokeGatewayInvitation } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { GATEWAY_INVITATIONS_KEY } from '#api/gateway-invitations.ts'

const REFRESH_MS = 30_000

export const useInvitations = (enabled: boolean) =>
  useQuery({
    queryKey: GATEWAY_INVITATIONS_KEY,
    queryFn: ({ signal }) => api(listGatewayInvitations, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

export function useRevokeInvitation() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api(revokeGatewayInvitation, { params: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: GATEWAY_INVITATIONS_KEY }),
  })
}
