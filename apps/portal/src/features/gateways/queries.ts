import { GATEWAY_LIST_REFRESH_MS, NEXT_CURSOR_HEADER, TAGGED_AT_ONCE_MAX } from '@hedgerow/contract/constants'
import type { ActivityEntry, BodyOf, HistoryPart } from '@hedgerow/contract'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  addGateway,
  claimGateway,
  deleteGateway,
  editGateway,
  gatewayHistory,
  gatewayVpnConfig,
  listAlertGateways,
  listDetections,
  readGateway,
  readReviewCounts,
  recentActivity,
  tagGateways,
} from 'virtual:contract-calls'
import { api, send } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'
import { GATEWAY_KEY, GATEWAYS_KEY, refetchGateways } from '#api/gateways.ts'

const detailKey = (id: string) => [...GATEWAY_KEY, id] as const

export const useGateway = (id: string) =>
  useQuery({
    queryKey: detailKey(id),
    queryFn: ({ signal }) => api(readGateway, { params: { id }, signal }),
    refetchInterval: GATEWAY_LIST_REFRESH_MS,
  })

/** The last 24 hours, oldest first. */
export const useHistory = (id: string) =>
  useQuery({
    queryKey: ['history', id],
    queryFn: ({ signal }) => api(gatewayHistory, { params: { id }, query: { hours: 24 }, signal }),
    refetchInterval: GATEWAY_LIST_REFRESH_MS,
  })

const HAPPENED_SHOWN = 20

/** What happened to it, newest first, a page after the other. */
export const useHappened = (gateway: string, part: HistoryPart | undefined) =>
  useInfiniteQuery({
    // Refetched with the activity of the dashboard.
    queryKey: ['dashboard', 'happened', gateway, part],
    queryFn: async ({ pageParam, signal }) => {
      const query = { gateway, limit: HAPPENED_SHOWN, ...(part && { part }), ...(pageParam && { cursor: pageParam }) }
      const answer = await send(recentActivity, { query, signal })
      const entries = (await answer.json()) as ActivityEntry[]
      return { entries, next: answer.headers.get(NEXT_CURSOR_HEADER) ?? undefined }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
  })

/** The newest 50, newest first. */
export const useDetections = (id: string) =>
  useQuery({
    queryKey: ['detections', id],
    queryFn: ({ signal }) => api(listDetections, { params: { id }, signal }),
    refetchInterval: GATEWAY_LIST_REFRESH_MS,
  })

/** The reviews of its detections; a review of any detection makes them stale. */
export const useReviewCounts = (id: string) =>
  useQuery({
    queryKey: ['threats', 'reviews', id],
    queryFn: ({ signal }) => api(readReviewCounts, { params: { id }, signal }),
  })

/** The gateways that an alert is about. */
export const useAlertGateways = (id: string) =>
  useQuery({
    queryKey: ['alerts', 'gateways', id],
    queryFn: async ({ signal }) => new Set(await api(listAlertGateways, { params: { id }, signal })),
    enabled: id !== '',
  })

/** Not cached: it may contain a private key. */
export const useVpnConfig = (id: string) =>
  useQuery({
    queryKey: ['vpn-config', id],
    queryFn: ({ signal }) => api(gatewayVpnConfig, { params: { id }, signal }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })

export const useAddGateway = () =>
  useChange(GATEWAYS_KEY, (body: BodyOf<typeof addGateway>) => api(addGateway, { body }), { exact: true })

export const useClaimGateway = () =>
  useChange(GATEWAYS_KEY, (body: BodyOf<typeof claimGateway>) => api(claimGateway, { body }), { exact: true })

export function useUpdateGateway(id: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof editGateway>) => api(editGateway, { params: { id }, body }),
    // Also after a refusal, because somebody else may have changed it.
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: GATEWAYS_KEY, exact: true }),
        queries.invalidateQueries({ queryKey: detailKey(id) }),
      ]),
  })
}

/** For many updates in a row: `refresh` refetches the list once, after the last one. */
export function useUpdateGateways() {
  const queries = useQueryClient()
  const update = useMutation({
    mutationFn: ({ id, body }: { id: string; body: BodyOf<typeof editGateway> }) =>
      api(editGateway, { params: { id }, body }),
  })
  return { update, refresh: () => refetchGateways(queries) }
}

/** Returns how many gateways were changed. */
export function useTagGateways() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ ids, ...tags }: BodyOf<typeof tagGateways>) => {
      let changed = 0
      for (let from = 0; from < ids.length; from += TAGGED_AT_ONCE_MAX)
        changed += (await api(tagGateways, { body: { ids: ids.slice(from, from + TAGGED_AT_ONCE_MAX), ...tags } }))
          .changed
      return changed
    },
    // Also after an error: of a selection that takes several calls, some gateways may be changed.
    onSettled: () => refetchGateways(queries),
  })
}

export const useDeleteGateway = () =>
  useChange(
    GATEWAYS_KEY,
    ({ id, name }: { id: string; name: string }) => api(deleteGateway, { params: { id }, body: { name } }),
    { exact: true },
  )
