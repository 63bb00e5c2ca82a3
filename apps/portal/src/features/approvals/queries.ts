import type { listRegistrationSources as sourcesCall, ResponseOf } from '@hedgerow/contract'
import { PENDING_LIST_REFRESH_MS } from '@hedgerow/contract/constants'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  approveRegistration,
  liftRejection,
  listRegistrationSources,
  listRejectedRegistrations,
  rejectRegistration,
  rejectRegistrationsOfSource,
} from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'
import { GATEWAYS_KEY } from '#api/gateways.ts'
import { PENDING_REGISTRATIONS_KEY } from '#api/pending-registrations.ts'

const REJECTED_KEY = ['registrations', 'rejected'] as const

export const useRejected = (enabled: boolean) =>
  useQuery({
    queryKey: REJECTED_KEY,
    queryFn: ({ signal }) => api(listRejectedRegistrations, { signal }),
    refetchInterval: PENDING_LIST_REFRESH_MS,
    enabled,
  })

export function useApprove() {
  const queries = useQueryClient()
  return useMutation({
    /** An empty site: its invitation's, or the one that its location names. */
    mutationFn: ({ registrationId, siteId }: { registrationId: string; siteId: string }) =>
      api(approveRegistration, { params: { registrationId }, ...(siteId !== '' && { body: { siteId } }) }),
    // Also after a refusal, because somebody else may have decided, and then the row is stale.
    onSettled: () => queries.invalidateQueries({ queryKey: PENDING_REGISTRATIONS_KEY }),
    onSuccess: () => queries.invalidateQueries({ queryKey: GATEWAYS_KEY, exact: true }),
  })
}

export const useReject = () =>
  useChange(['registrations'], ({ registrationId, reason }: { registrationId: string; reason: string }) =>
    api(rejectRegistration, { params: { registrationId }, body: { reason } }),
  )

export type Source = ResponseOf<typeof sourcesCall>[number]

export const useSources = () =>
  useQuery({
    queryKey: ['registrations', 'sources'],
    queryFn: ({ signal }) => api(listRegistrationSources, { signal }),
    refetchInterval: PENDING_LIST_REFRESH_MS,
  })

export const useRejectSource = () =>
  useChange(['registrations'], (body: { source: string; reason: string }) => api(rejectRegistrationsOfSource, { body }))

export const useLift = () =>
  useChange(REJECTED_KEY, (registrationId: string) => api(liftRejection, { params: { registrationId } }))
