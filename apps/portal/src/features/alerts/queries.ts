import type { AlertRuleFields, BodyOf, Delivery } from '@hedgerow/contract'
import { NEXT_CURSOR_HEADER } from '@hedgerow/contract/constants'
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  acknowledgeAlert,
  addAlertRule,
  deleteAlertRule,
  editAlertRule,
  editChannelSetup,
  listAlertRules,
  listAlerts,
  listChannelSetups,
  listDeliveries,
  previewAlertRule,
  readNotificationChannels,
  sendDeliveryAgain,
  sendTestNotification,
} from 'virtual:contract-calls'
import { api, send } from '#api/client.ts'

const RULES_KEY = ['hub-settings', 'alert-rules'] as const
const REFRESH_MS = 30_000

export const useAlertRules = (enabled: boolean) =>
  useQuery({
    queryKey: RULES_KEY,
    queryFn: ({ signal }) => api(listAlertRules, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

export const useChannels = (enabled: boolean) =>
  useQuery({
    queryKey: ['hub-settings', 'channels'],
    queryFn: ({ signal }) => api(readNotificationChannels, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

export const useChannelSetups = (enabled: boolean) =>
  useQuery({
    queryKey: ['hub-settings', 'channel-setups'],
    queryFn: ({ signal }) => api(listChannelSetups, { signal }),
    enabled,
  })

export function useEditChannel() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ name, change }: { name: string; change: BodyOf<typeof editChannelSetup> }) =>
      api(editChannelSetup, { params: { name }, body: change }),
    // Also after a refusal, because somebody else may have changed it.
    onSettled: () => queries.invalidateQueries({ queryKey: ['hub-settings'] }),
  })
}

/** `data` is undefined while the fields are not valid. */
export const usePreview = (fields: AlertRuleFields | undefined) =>
  useQuery({
    queryKey: ['alert-preview', fields],
    queryFn: ({ signal }) => api(previewAlertRule, { body: fields!, signal }),
    enabled: fields !== undefined,
    placeholderData: keepPreviousData,
  })

export function useAddRule() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: AlertRuleFields) => api(addAlertRule, { body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: RULES_KEY }),
  })
}

export function useEditRule() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, change }: { id: string; change: BodyOf<typeof editAlertRule> }) =>
      api(editAlertRule, { params: { id }, body: change }),
    // Also after a refusal, because somebody else may have changed it.
    onSettled: () => queries.invalidateQueries({ queryKey: RULES_KEY }),
  })
}

export function useDeleteRule() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api(deleteAlertRule, { params: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: RULES_KEY }),
  })
}

export function useTest() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (channel: string) => api(sendTestNotification, { query: { channel } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['hub-settings'] }),
  })
}

/** Short enough for a phone; a button shows more. */
const DELIVERIES_A_PAGE = 15
const DELIVERIES_KEY = ['hub-settings', 'deliveries'] as const
type DeliveryFilter = { channel?: string; state?: Delivery['state'] }
type DeliveryPage = { deliveries: Delivery[]; nextCursor: string | undefined }

/** Newest first, a page at a time. */
export const useDeliveries = (filter: DeliveryFilter) =>
  useInfiniteQuery({
    queryKey: [...DELIVERIES_KEY, filter],
    queryFn: async ({ pageParam, signal }): Promise<DeliveryPage> => {
      const query = { ...filter, limit: DELIVERIES_A_PAGE, ...(pageParam !== undefined && { cursor: pageParam }) }
      const response = await send(listDeliveries, { query, signal })
      const deliveries = (await response.json()) as Delivery[]
      return { deliveries, nextCursor: response.headers.get(NEXT_CURSOR_HEADER) ?? undefined }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })

export function useSendAgain() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api(sendDeliveryAgain, { params: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: DELIVERIES_KEY }),
  })
}

const ALERTS_KEY = ['alerts'] as const

export const useAlerts = () =>
  useQuery({
    queryKey: ALERTS_KEY,
    queryFn: ({ signal }) => api(listAlerts, { query: {}, signal }),
    refetchInterval: REFRESH_MS,
  })

export function useAcknowledge() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api(acknowledgeAlert, { params: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ALERTS_KEY }),
  })
}
