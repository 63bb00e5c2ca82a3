import type { BodyOf } from '@hedgerow/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createGatewayInvitation, listGatewayInvitations, revokeGatewayInvitation } from 'virtual:contract-calls'
import { api } from '#api/client.ts'

const INVITATIONS_KEY = ['gateway-invitations'] as const
const REFRESH_MS = 30_000

export const useInvitations = (enabled: boolean) =>
  useQuery({
    queryKey: INVITATIONS_KEY,
    queryFn: ({ signal }) => api(listGatewayInvitations, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

export function useCreateInvitation() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof createGatewayInvitation>) => api(createGatewayInvitation, { body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: INVITATIONS_KEY }),
    // Not cached: the answer contains the code.
    gcTime: 0,
  })
}

export function useRevokeInvitation() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api(revokeGatewayInvitation, { params: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: INVITATIONS_KEY }),
  })
}
