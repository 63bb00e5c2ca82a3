import type { AutoApprovalSettings } from '@hedgerow/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { readAutoApprovalSettings, saveAutoApprovalSettings, testAutoApproval } from 'virtual:contract-calls'
import { api } from '#api/client.ts'

const SETTINGS_KEY = ['auto-approval'] as const

/** Not asked for again by itself: nothing may change under somebody who is changing it. */
export const useAutoApprovalSettings = (enabled: boolean) =>
  useQuery({
    queryKey: SETTINGS_KEY,
    queryFn: ({ signal }) => api(readAutoApprovalSettings, { signal }),
    staleTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    enabled,
  })

/** Saves the whole object; the settings are then loaded again (specification section 7). */
export function useSaveAutoApprovalSettings() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: AutoApprovalSettings) => api(saveAutoApprovalSettings, { body }),
    onSuccess: () => queries.refetchQueries({ queryKey: SETTINGS_KEY }),
  })
}

export const useTestAutoApproval = () =>
  useMutation({ mutationFn: (ip: string) => api(testAutoApproval, { body: { ip } }) })
