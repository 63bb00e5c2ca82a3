import { revokeGatewayInvitation } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { GATEWAY_INVITATIONS_KEY } from '#api/gateway-invitations.ts'
import { useChange } from '#api/use-change.ts'

export const useRevokeInvitation = () =>
  useChange(GATEWAY_INVITATIONS_KEY, (id: string) => api(revokeGatewayInvitation, { params: { id } }))
