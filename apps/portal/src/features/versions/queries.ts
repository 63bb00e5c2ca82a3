import type { BodyOf } from '@hedgerow/contract'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  editSiteUpdates,
  getVersions,
  resumeRollout,
  skipUpdate,
  stopRollout,
  updateGateways,
} from 'virtual:contract-calls'
import { api } from '#api/client.ts'

/** A part of the `gateways` key, so that live events of the fleet refetch it. */
const KEY = ['gateways', 'versions'] as const
const REFRESH_MS = 10_000

/** The most gateways that are shown. */
export const SHOWN_MAX = 500

/** The versions of the first gateways whose name or location contains `q`. */
export const useVersions = (enabled: boolean, q: string) =>
  useQuery({
    queryKey: [...KEY, q],
    queryFn: ({ signal }) => api(getVersions, { query: { limit: SHOWN_MAX, ...(q !== '' && { q }) }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    enabled,
  })

export function useUpdateGateways() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (gatewayIds: string[]) => api(updateGateways, { body: { gatewayIds } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  })
}

export function useResumeRollout() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => api(resumeRollout, {}),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  })
}

export function useStopRollout() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => api(stopRollout, {}),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  })
}

/** Automatic updates go on without this gateway. */
export function useSkipUpdate() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (gatewayId: string) => api(skipUpdate, { body: { gatewayId } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  })
}

export function useSaveSite() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (change: BodyOf<typeof editSiteUpdates>) => api(editSiteUpdates, { body: change }),
    // Also after a refusal, because somebody else may have changed it.
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  })
}
