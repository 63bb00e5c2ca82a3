import type { BodyOf, createGatewayInvitation as createCall, ResponseOf } from '@hedgerow/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createGatewayInvitation } from 'virtual:contract-calls'
import { api } from './client.ts'

export const GATEWAY_INVITATIONS_KEY = ['gateway-invitations'] as const

export type MadeGatewayInvitation = ResponseOf<typeof createCall>

export function useCreateGatewayInvitation() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof createCall>) => api(createGatewayInvitation, { body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: GATEWAY_INVITATIONS_KEY }),
    // Not cached, because the answer contains the code.
    gcTime: 0,
  })
}
