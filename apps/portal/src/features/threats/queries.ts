import { CLIP_LINK_LIFETIME_MS, NEXT_CURSOR_HEADER, type Incident } from '@hedgerow/contract'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import {
  countIncidents,
  createClipLink,
  listAlerts,
  listIncidents,
  readDetectionClip,
  readDetectionSnapshot,
  readIncident,
} from 'virtual:contract-calls'
import { api, ApiError, send } from '#api/client.ts'
import { thumbnailQuery } from '#api/thumbnail.ts'
import { queryOf, type Filter } from './filter.ts'

export const THREATS_KEY = ['threats'] as const
const REFRESH_MS = 30_000
/** The covers of about two rows of the wall. */
const FIRST_PICTURES = 10
const CLIP_REFRESH_MS = 3_000
/** Snapshots are large, so they are dropped soon after they are no longer shown. */
const SNAPSHOT_KEPT_MS = 60_000

type Page = { incidents: Incident[]; nextCursor: string | undefined }

/** Newest first, a page at a time; after a live event stale pages are refetched and the scroll position stays. */
export const useIncidents = (filter: Filter) =>
  useInfiniteQuery({
    queryKey: [...THREATS_KEY, 'list', filter],
    queryFn: async ({ pageParam, signal, client }): Promise<Page> => {
      const query = { ...queryOf(filter), ...(pageParam !== undefined && { cursor: pageParam }) }
      const response = await send(listIncidents, { query, signal })
      const incidents = (await response.json()) as Incident[]
      // The first covers load while the wall is drawn.
      for (const { gatewayId, coverId } of incidents.slice(0, FIRST_PICTURES))
        if (coverId !== null) void client.prefetchQuery(thumbnailQuery(gatewayId, coverId))
      return {
        incidents,
        nextCursor: response.headers.get(NEXT_CURSOR_HEADER) ?? undefined,
      }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })

export const useCounts = (filter: Filter) => {
  const { label: _label, severity: _severity, review: _review, ...query } = queryOf(filter)
  return useQuery({
    queryKey: [...THREATS_KEY, 'counts', query],
    queryFn: ({ signal }) => api(countIncidents, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })
}

export const useIncident = (id: string) =>
  useQuery({
    queryKey: [...THREATS_KEY, 'one', id],
    queryFn: ({ signal }) => api(readIncident, { params: { id }, signal }),
  })

/** The alerts about an incident. */
export const useAlertsOf = (incident: string) =>
  useQuery({
    queryKey: ['alerts', 'of', incident],
    queryFn: ({ signal }) => api(listAlerts, { query: { incident }, signal }),
  })

/** The picture in full size, from the gateway. */
export const useSnapshot = (id: string, detectionId: string | undefined) =>
  useQuery({
    queryKey: ['snapshot', id, detectionId],
    queryFn: async ({ signal }) => {
      const jpeg = await api(readDetectionSnapshot, { params: { id, detectionId: detectionId ?? '' }, signal })
      return new Blob([new Uint8Array(jpeg)], { type: 'image/jpeg' })
    },
    enabled: detectionId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: SNAPSHOT_KEPT_MS,
    retry: false,
  })

/** The address of the clip, once its first byte has arrived. */
export const useClip = (id: string, detectionId: string) =>
  useQuery({
    queryKey: ['clip', id, detectionId],
    queryFn: () => fetchClipLink(id, detectionId),
    staleTime: CLIP_LINK_LIFETIME_MS / 2,
    gcTime: 0,
    retry: false,
    refetchInterval: ({ state: { error } }) => (isNotFinished(error) ? CLIP_REFRESH_MS : false),
  })

/** The gateway still films it. */
export const isNotFinished = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'clip_not_finished'

/** Throws an ApiError when the gateway has no clip: a `<video>` would not show why. */
export async function fetchClipLink(id: string, detectionId: string): Promise<{ path: string }> {
  const link = await api(createClipLink, { params: { id, detectionId } })
  const first = await send(readDetectionClip, { params: { id, detectionId }, range: 'bytes=0-15' })
  await first.body?.cancel()
  return link
}
