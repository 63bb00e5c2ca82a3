import { useQuery } from '@tanstack/react-query'
import { listUsers } from 'virtual:contract-calls'
import { api } from './client.ts'

export const USERS_KEY = ['users'] as const
const REFRESH_MS = 30_000

/** The users of the hub, for managers and administrators. A failure is logged, and the screens show it. */
export const useUsers = (enabled: boolean) =>
  useQuery({
    queryKey: USERS_KEY,
    queryFn: async ({ signal }) => {
      try {
        return await api(listUsers, { query: {}, signal })
      } catch (error) {
        if (!signal.aborted) console.error('The users were not loaded:', error)
        throw error
      }
    },
    refetchInterval: REFRESH_MS,
    enabled,
  })
