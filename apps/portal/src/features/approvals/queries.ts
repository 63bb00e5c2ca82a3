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
    mutationFn: (registrationId: string) => api(approveRegistration, { params: { registrationId } }),
    // Also after a refusal, because somebody else may have decided, and then the row is stale.
    onSettled: () => queries.invalidateQueries({ queryKey: PENDING_REGISTRATIONS_KEY }),
    onSuccess: () => queries.invalidateQueries({ queryKey: GATEWAYS_KEY, exact: true }),
  })
}

export function useReject() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ registrationId, reason }: { registrationId: string; reason: string }) =>
      api(rejectRegistration, { params: { registrationId }, body: { reason } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['registrations'] }),
  })
}

export type Source = ResponseOf<typeof sourcesCall>[number]

export const useSources = () =>
  useQuery({
    queryKey: ['registrations', 'sources'],
    queryFn: ({ signal }) => api(listRegistrationSources, { signal }),
    refetchInterval: PENDING_LIST_REFRESH_MS,
  })

export function useRejectSource() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: { source: string; reason: string }) => api(rejectRegistrationsOfSource, { body }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['registrations'] }),
  })
}

export function useLift() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (registrationId: string) => api(liftRejection, { params: { registrationId } }),
    onSettled: () => queries.invalidateQueries({ queryKey: REJECTED_KEY }),
  })
}
