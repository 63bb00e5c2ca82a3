import type { ActivityEntry, hubTimeline as timelineCall, ResponseOf } from '@hedgerow/contract'
import { DASHBOARD_REFRESH_MS, NEXT_CURSOR_HEADER } from '@hedgerow/contract/constants'
import { useQuery } from '@tanstack/react-query'
import {
  countIncidents,
  hubProblems,
  hubStats,
  hubTimeline,
  listIncidents,
  readIncident,
  recentActivity,
} from 'virtual:contract-calls'
import { api, send } from '#api/client.ts'
import { activityLines } from './activity-lines.ts'
import { midnight } from './targets.ts'

/** Older entries are read when those that repeat leave fewer rows than this. */
const FEW_ROWS = 5
const OLDER = 200
const HOUR_MS = 3_600_000

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
  if (cursor === null || activityLines(entries).length >= FEW_ROWS) return entries
  return [...entries, ...(await api(recentActivity, { query: { cursor, limit: OLDER }, signal }))]
}

/** The incidents that the link of the figure lists: both ask for the same. */
export const useThreatsToday = () => {
  const from = midnight().toISOString()
  return useQuery({
    queryKey: ['threats', 'today', from],
    queryFn: async ({ signal }) => {
      const { groups } = await api(countIncidents, { query: { severity: 'alert', from }, signal })
      return groups.reduce((sum, { severity, count }) => (severity === 'alert' ? sum + count : sum), 0)
    },
    refetchInterval: DASHBOARD_REFRESH_MS,
  })
}

/** The newest alert of the last 24 hours, with what was done about it; null for none. */
export const useLastThreat = () =>
  useQuery({
    queryKey: ['threats', 'last'],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - 24 * HOUR_MS).toISOString()
      const [newest] = await api(listIncidents, { query: { severity: 'alert', from, limit: 1 }, signal })
      return newest === undefined ? null : api(readIncident, { params: { id: newest.id }, signal })
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

/** The last 24 hours of a hub where nothing happened: what the chart shows when its first fetch failed. */
export function quietHours(now = Date.now()): ResponseOf<typeof timelineCall> {
  const thisHour = now - (now % HOUR_MS)
  return Array.from({ length: 24 }, (_, index) => ({
    hour: new Date(thisHour - (23 - index) * HOUR_MS).toISOString(),
    activeConnections: 0,
    threats: 0,
    firings: 0,
  }))
}
