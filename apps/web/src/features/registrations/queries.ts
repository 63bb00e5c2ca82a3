import { useMutation, useQueryClient } from '@tanstack/react-query'
import { approveRegistration, rejectRegistration } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { PENDING_REGISTRATIONS_KEY } from '#api/pending-registrations.ts'

export function useApprove() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (registrationId: string) => api(approveRegistration, { params: { registrationId } }),
    // Also after a refusal: somebody else may have decided, and then the row is stale.
    onSettled: () => queries.invalidateQueries({ queryKey: PENDING_REGISTRATIONS_KEY }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['gateways'], exact: true }),
  })
}

export function useReject() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ registrationId, reason }: { registrationId: string; reason: string }) =>
      api(rejectRegistration, { params: { registrationId }, body: { reason } }),
    onSettled: () => queries.invalidateQueries({ queryKey: PENDING_REGISTRATIONS_KEY }),
  })
}
