import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getVersions, resumeRollout, updateGateways } from 'virtual:contract-calls'
import { api } from '#api/client.ts'

/** Below `gateways`, so that live events of the fleet refetch it. */
const KEY = ['gateways', 'versions'] as const
const REFRESH_MS = 10_000

export const useVersions = (enabled: boolean) =>
  useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => api(getVersions, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

export function useUpdateGateways() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (gatewayIds: string[]) => api(updateGateways, { body: { gatewayIds } }),
    onSuccess: (versions) => queries.setQueryData(KEY, versions),
  })
}

export function useResumeRollout() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => api(resumeRollout, {}),
    onSuccess: (versions) => queries.setQueryData(KEY, versions),
  })
}
