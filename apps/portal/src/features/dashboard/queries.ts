import type { ActivityEntry } from '@hedgerow/contract'
import { DASHBOARD_REFRESH_MS, NEXT_CURSOR_HEADER } from '@hedgerow/contract/constants'
import { useQuery } from '@tanstack/react-query'
import { hubProblems, hubStats, hubTimeline, recentActivity } from 'virtual:contract-calls'
import { api, send } from '#api/client.ts'
import { activityLines, FIRST_LINES } from './activity-lines.ts'

/** Older entries that are read when a rush fills the newest ones. */
const OLDER = 200

/** Figures and activity, fetched together. */
export const useDashboard = () =>
  useQuery({
    queryKey: ['dashboard'],
    queryFn: async ({ signal }) => {
      try {
        const [stats, activity] = await Promise.all([api(hubStats, { signal }), readActivity(signal)])
        return { stats, activity }
      } catch (error) {
        if (!signal.aborted) console.error('Failed to fetch dashboard data:', error)
        throw error
      }
    },
    refetchInterval: DASHBOARD_REFRESH_MS,
  })

async function readActivity(signal: AbortSignal): Promise<ActivityEntry[]> {
  const newest = await send(recentActivity, { signal })
  const entries = (await newest.json()) as ActivityEntry[]
  const cursor = newest.headers.get(NEXT_CURSOR_HEADER)
  if (cursor === null || activityLines(entries).length >= FIRST_LINES) return entries
  return [...entries, ...(await api(recentActivity, { query: { cursor, limit: OLDER }, signal }))]
}

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
