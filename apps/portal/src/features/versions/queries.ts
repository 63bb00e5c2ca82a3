import type { BodyOf } from '@hedgerow/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import {
  editSiteUpdates,
  getVersions,
  resumeRollout,
  skipUpdate,
  stopRollout,
  updateGateways,
} from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'

/** A part of the `gateways` key, so that live events of the fleet refetch it. */
const KEY = ['gateways', 'versions'] as const
const REFRESH_MS = 10_000

/** The most gateways that are shown. */
export const SHOWN_MAX = 500

/** The versions of the first gateways whose name, site, location or tag contains `q`. */
export const useVersions = (enabled: boolean, q: string) =>
  useQuery({
    queryKey: [...KEY, q],
    queryFn: ({ signal }) => api(getVersions, { query: { limit: SHOWN_MAX, ...(q !== '' && { q }) }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    enabled,
  })

export const useUpdateGateways = () =>
  useChange(KEY, (gatewayIds: string[]) => api(updateGateways, { body: { gatewayIds } }))

export const useResumeRollout = () => useChange(KEY, () => api(resumeRollout, {}))

export const useStopRollout = () => useChange(KEY, () => api(stopRollout, {}))

/** Automatic updates go on without this gateway. */
export const useSkipUpdate = () => useChange(KEY, (gatewayId: string) => api(skipUpdate, { body: { gatewayId } }))

export const useSaveSite = () =>
  useChange(KEY, (change: BodyOf<typeof editSiteUpdates>) => api(editSiteUpdates, { body: change }))
