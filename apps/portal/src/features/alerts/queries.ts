import type { AlertRuleFields, BodyOf, Delivery } from '@hedgerow/contract'
import { NEXT_CURSOR_HEADER } from '@hedgerow/contract/constants'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
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
import { useChange } from '#api/use-change.ts'

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

export const useEditChannel = () =>
  useChange(['hub-settings'], ({ name, change }: { name: string; change: BodyOf<typeof editChannelSetup> }) =>
    api(editChannelSetup, { params: { name }, body: change }),
  )

/** `data` is undefined while the fields are not valid. */
export const usePreview = (fields: AlertRuleFields | undefined) =>
  useQuery({
    queryKey: ['alert-preview', fields],
    queryFn: ({ signal }) => api(previewAlertRule, { body: fields!, signal }),
    enabled: fields !== undefined,
    placeholderData: keepPreviousData,
  })

export const useAddRule = () => useChange(RULES_KEY, (body: AlertRuleFields) => api(addAlertRule, { body }))

export const useEditRule = () =>
  useChange(RULES_KEY, ({ id, change }: { id: string; change: BodyOf<typeof editAlertRule> }) =>
    api(editAlertRule, { params: { id }, body: change }),
  )

export const useDeleteRule = () => useChange(RULES_KEY, (id: string) => api(deleteAlertRule, { params: { id } }))

export const useTest = () =>
  useChange(['hub-settings'], (channel: string) => api(sendTestNotification, { query: { channel } }))

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

export const useSendAgain = () => useChange(DELIVERIES_KEY, (id: string) => api(sendDeliveryAgain, { params: { id } }))

const ALERTS_KEY = ['alerts'] as const

export const useAlerts = () =>
  useQuery({
    queryKey: ALERTS_KEY,
    queryFn: ({ signal }) => api(listAlerts, { query: {}, signal }),
    refetchInterval: REFRESH_MS,
  })

export const useAcknowledge = () => useChange(ALERTS_KEY, (id: string) => api(acknowledgeAlert, { params: { id } }))
