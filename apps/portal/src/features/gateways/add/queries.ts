import type { BodyOf, createGatewayLabels as labelsCall } from '@hedgerow/contract'
import { PENDING_LIST_REFRESH_MS } from '@hedgerow/contract/constants'
import { useQuery } from '@tanstack/react-query'
import { approveRegistration, createGatewayLabels, getVersions, listArrivals } from 'virtual:contract-calls'
import { loadCameraPicture } from '#api/cameras.ts'
import { api } from '#api/client.ts'
import { GATEWAY_INVITATIONS_KEY } from '#api/gateway-invitations.ts'
import { useChange } from '#api/use-change.ts'

const PICTURE_RETRY_MS = 2_000

/** Not cached, because the answer contains the codes. */
export const useCreateLabels = () =>
  useChange(GATEWAY_INVITATIONS_KEY, (body: BodyOf<typeof labelsCall>) => api(createGatewayLabels, { body }), {
    gcTime: 0,
  })

/** What came with these invitations. */
export const useArrivals = (ids: readonly string[]) =>
  useQuery({
    queryKey: ['registrations', 'arrivals', ids],
    queryFn: ({ signal }) => api(listArrivals, { query: { of: ids.join(',') }, signal }),
    refetchInterval: PENDING_LIST_REFRESH_MS,
    enabled: ids.length > 0,
  })

export const useApproveArrival = () =>
  useChange(['registrations'], (registrationId: string) => api(approveRegistration, { params: { registrationId } }))

/** Asks until the first picture is there; undefined before. */
export const useFirstPicture = (gatewayId: string, camera: string | undefined) =>
  useQuery({
    queryKey: ['first-picture', gatewayId, camera],
    queryFn: ({ signal }) => loadCameraPicture({ gatewayId, name: camera! }, signal),
    refetchInterval: ({ state }) => (state.data === undefined ? PICTURE_RETRY_MS : false),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: camera !== undefined,
  })

/** The hub's images have the hub's version. */
export const useHubVersion = () =>
  useQuery({
    queryKey: ['gateways', 'versions', 'hub'],
    queryFn: ({ signal }) => api(getVersions, { query: { limit: 1 }, signal }),
  }).data?.hub.version
