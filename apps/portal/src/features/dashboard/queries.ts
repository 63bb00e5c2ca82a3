import { DASHBOARD_REFRESH_MS } from '@hedgerow/contract'
import { useQuery } from '@tanstack/react-query'
import { hubProblems, hubStats, hubTimeline, recentActivity } from 'virtual:contract-calls'
import { api } from '#api/client.ts'

/** Figures and activity, fetched together. */
export const useDashboard = () =>
  useQuery({
    queryKey: ['dashboard'],
    queryFn: async ({ signal }) => {
      try {
        const [stats, activity] = await Promise.all([api(hubStats, { signal }), api(recentActivity, { signal })])
        return { stats, activity }
      } catch (error) {
        if (!signal.aborted) console.error('Failed to fetch dashboard data:', error)
        throw error
      }
    },
    refetchInterval: DASHBOARD_REFRESH_MS,
  })

export const useHubProblems = () =>
  useQuery({
    queryKey: ['dashboard', 'problems'],
    queryFn: ({ signal }) => api(hubProblems, { signal }),
    refetchInterval: DASHBOARD_REFRESH_MS,
  })

export const useTimeline = () =>
  useQuery({
    queryKey: ['dashboard', 'timeline'],
    queryFn: ({ signal }) => api(hubTimeline, { signal }),
    refetchInterval: DASHBOARD_REFRESH_MS,
  })
