import type { Incident } from '@hedgerow/contract'
import { CLIP_LINK_LIFETIME_MS, NEXT_CURSOR_HEADER } from '@hedgerow/contract/constants'
import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  type InfiniteData,
  type QueryClient,
} from '@tanstack/react-query'
import {
  acknowledgeAlert,
  countIncidents,
  createClipLink,
  listAlerts,
  listIncidents,
  readDetectionClip,
  readDetectionSnapshot,
  readIncident,
  readNeighbours,
} from 'virtual:contract-calls'
import { api, ApiError, send } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'
import { thumbnailQuery } from '#api/thumbnail.ts'
import { queryOf, type Filter } from './filter.ts'

export const THREATS_KEY = ['threats'] as const
const REFRESH_MS = 30_000
/** The covers of about two rows of the wall. */
const FIRST_PICTURES = 10
const CLIP_REFRESH_MS = 3_000
/** Snapshots are large, so they are dropped soon after they are no longer shown. */
const SNAPSHOT_KEPT_MS = 60_000

/** Beyond this size the first page begins anew. */
const FIRST_PAGE_MAX = 300
const PAGE = 60

type Page = { incidents: Incident[]; nextCursor: string | undefined }
type Pages = InfiniteData<Page, string | undefined>

/** The next refetch reads the pages of these, in view or not. */
const changed = new Set<string>()

/** Refetches everything about incidents; `ids` have changed. */
export async function refetchThreats(queries: QueryClient, ids: readonly string[]): Promise<void> {
  for (const id of ids) changed.add(id)
  await queries.invalidateQueries({ queryKey: THREATS_KEY })
  for (const id of ids) changed.delete(id)
}

/**
 * Newest first, a page at a time. A refetch, such as after each live event, reads the newest incidents and the pages in
 * view; it does not move the others, so it costs the same after a thousand pages.
 */
export const useIncidents = (filter: Filter, isInView: (id: string) => boolean) =>
  useInfiniteQuery({
    queryKey: [...THREATS_KEY, 'list', filter],
    queryFn: async ({ pageParam, signal, client, queryKey }): Promise<Page> => {
      const { pages = [], pageParams = [] } = client.getQueryData<Pages>(queryKey) ?? {}
      const cached = pages[pageParams.indexOf(pageParam)]
      const isRead = ({ id }: Incident) => isInView(id) || changed.has(id)
      if (cached && pageParam !== undefined && !cached.incidents.some(isRead)) return cached
      if (cached && pages.length > 1 && pageParam === undefined) return refetchFirst(filter, cached, signal)
      const page = await fetchPage(filter, { cursor: pageParam }, signal)
      // The first covers load while the wall is drawn.
      for (const { gatewayId, coverId } of page.incidents.slice(0, FIRST_PICTURES))
        if (coverId !== null) void client.prefetchQuery(thumbnailQuery(gatewayId, coverId))
      return page
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })

/** The first page with what is new; it ends where it ended, so that the second page still follows. */
async function refetchFirst(filter: Filter, cached: Page, signal: AbortSignal): Promise<Page> {
  const last = cached.incidents.at(-1)
  const limit = cached.incidents.length + PAGE
  if (!last || limit > FIRST_PAGE_MAX) return fetchPage(filter, {}, signal)
  const { incidents, nextCursor } = await fetchPage(filter, { limit }, signal)
  const end = incidents.findIndex(({ startedAt, id }) =>
    startedAt === last.startedAt ? id < last.id : startedAt < last.startedAt,
  )
  return end < 0 ? { incidents, nextCursor } : { incidents: incidents.slice(0, end), nextCursor: cached.nextCursor }
}

async function fetchPage(
  filter: Filter,
  page: { cursor?: string | undefined; limit?: number },
  signal: AbortSignal,
): Promise<Page> {
  const response = await send(listIncidents, { query: { ...queryOf(filter), limit: PAGE, ...page }, signal })
  return {
    incidents: (await response.json()) as Incident[],
    nextCursor: response.headers.get(NEXT_CURSOR_HEADER) ?? undefined,
  }
}

export const useCounts = (filter: Filter) => {
  const query = queryOf(filter)
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

/** The incidents before and after one that the wall has not loaded; not asked without an id. */
export const useNeighbours = (id: string | undefined, filter: Filter) => {
  const query = queryOf(filter)
  return useQuery({
    queryKey: [...THREATS_KEY, 'neighbours', id, query],
    queryFn: ({ signal }) => api(readNeighbours, { params: { id: id! }, query, signal }),
    enabled: id !== undefined,
  })
}

/** The alerts about an incident. */
export const useAlertsOf = (incident: string) =>
  useQuery({
    queryKey: ['alerts', 'of', incident],
    queryFn: ({ signal }) => api(listAlerts, { query: { incident }, signal }),
  })

/** Acknowledges several alerts about one incident. */
export const useAcknowledge = () =>
  useChange(['alerts'], (ids: readonly string[]) =>
    Promise.all(ids.map((id) => api(acknowledgeAlert, { params: { id } }))),
  )

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
