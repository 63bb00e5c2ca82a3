import type { AuditEntry } from '@hedgerow/contract'
import { NEXT_CURSOR_HEADER } from '@hedgerow/contract/constants'
import { keepPreviousData, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { listAudit } from 'virtual:contract-calls'
import { send } from '#api/client.ts'
import { queryOf, type Filter } from './filter.ts'

type AuditPage = { entries: AuditEntry[]; nextCursor: string | undefined }

/** The most calls for one page: each searches a limited number of entries, and may find none. */
const CALLS_A_PAGE = 10

/** Newest first, a page at a time. */
export const useAudit = (filter: Filter, enabled: boolean) =>
  useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: async ({ pageParam, signal }): Promise<AuditPage> => {
      const page: AuditPage = { entries: [], nextCursor: pageParam }
      for (let calls = 0; calls < CALLS_A_PAGE; calls++) {
        const query = { ...queryOf(filter), ...(page.nextCursor !== undefined && { cursor: page.nextCursor }) }
        const response = await send(listAudit, { query, signal })
        page.entries = (await response.json()) as AuditEntry[]
        page.nextCursor = response.headers.get(NEXT_CURSOR_HEADER) ?? undefined
        if (page.entries.length > 0 || page.nextCursor === undefined) break
      }
      return page
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    enabled,
  })

/** The same entries as a file. A plain link could not send the access token. */
export const useAuditFile = () =>
  useMutation({
    mutationFn: async (filter: Filter) => {
      const response = await send(listAudit, { query: { ...queryOf(filter), format: 'csv' } }, 'text/csv')
      return response.blob()
    },
    gcTime: 0,
  })
