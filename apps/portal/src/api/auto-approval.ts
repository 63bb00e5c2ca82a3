import { useQuery } from '@tanstack/react-query'
import { readAutoApprovalSettings } from 'virtual:contract-calls'
import { api } from './client.ts'

export const AUTO_APPROVAL_KEY = ['auto-approval'] as const

/** No automatic refetch: the settings must not change while somebody edits them. */
export const useAutoApprovalSettings = (enabled: boolean) =>
  useQuery({
    queryKey: AUTO_APPROVAL_KEY,
    queryFn: ({ signal }) => api(readAutoApprovalSettings, { signal }),
    staleTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    enabled,
  })
