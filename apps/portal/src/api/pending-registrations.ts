import { PENDING_LIST_REFRESH_MS } from '@hedgerow/contract/constants'
import { useQuery } from '@tanstack/react-query'
import { listPendingRegistrations } from 'virtual:contract-calls'
import { api } from './client.ts'
import { mayManageFleet } from './roles.ts'
import { useUser } from './session.tsx'

export const PENDING_REGISTRATIONS_KEY = ['registrations', 'pending'] as const

/** The top bar, the dashboard and the approvals share this poll. It runs only for roles that may see the list. */
export function usePendingRegistrations() {
  const { role } = useUser()
  return useQuery({
    queryKey: PENDING_REGISTRATIONS_KEY,
    queryFn: ({ signal }) => api(listPendingRegistrations, { signal }),
    refetchInterval: PENDING_LIST_REFRESH_MS,
    enabled: mayManageFleet(role),
  })
}
