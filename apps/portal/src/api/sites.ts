/** Reads and changes sites. */
import type { addSite as addCall, assignSite as assignCall, BodyOf, editSite as editCall } from '@hedgerow/contract'
import { TAGGED_AT_ONCE_MAX } from '@hedgerow/contract/constants'
import { byNaturalOrder } from '@hedgerow/contract/natural-order'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { addSite, assignSite, deleteSite, editSite, listSites, siteUses } from 'virtual:contract-calls'
import { api } from './client.ts'
import { GATEWAY_KEY, GATEWAYS_KEY } from './gateways.ts'

const SITES_KEY = ['sites'] as const

/** By name, 2 before 10. */
export const useSites = () =>
  useQuery({
    queryKey: SITES_KEY,
    queryFn: ({ signal }) => api(listSites, { signal }),
    select: (sites) => sites.toSorted((a, b) => byNaturalOrder(a.name, b.name)),
  })

/** What names a site, for the question before it is deleted. */
export const useSiteUses = (id: string) =>
  useQuery({
    queryKey: [...SITES_KEY, id, 'uses'],
    queryFn: ({ signal }) => api(siteUses, { params: { id }, signal }),
    staleTime: 0,
  })

function useSiteChange<Input>(mutationFn: (input: Input) => Promise<unknown>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn,
    // Also after a refusal, because somebody else may have changed it.
    onSettled: () =>
      Promise.all([SITES_KEY, GATEWAYS_KEY, GATEWAY_KEY].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
}

export const useAddSite = () => useSiteChange((body: BodyOf<typeof addCall>) => api(addSite, { body }))

export const useEditSite = (id: string) =>
  useSiteChange((body: BodyOf<typeof editCall>) => api(editSite, { params: { id }, body }))

export const useDeleteSite = (id: string) => useSiteChange(() => api(deleteSite, { params: { id } }))

export const useAssignSite = () =>
  useSiteChange(async ({ ids, siteId }: BodyOf<typeof assignCall>) => {
    for (let from = 0; from < ids.length; from += TAGGED_AT_ONCE_MAX)
      await api(assignSite, { body: { ids: ids.slice(from, from + TAGGED_AT_ONCE_MAX), siteId } })
  })
