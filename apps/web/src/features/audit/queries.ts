import { NEXT_CURSOR_HEADER, type AuditEntry } from '@hedgerow/contract'
import { keepPreviousData, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { listAudit } from 'virtual:contract-calls'
import { send } from '#api/client.ts'
import { queryOf, type Filter } from './filter.ts'

type AuditPage = { entries: AuditEntry[]; nextCursor: string | undefined }

/** Newest first, a page at a time. */
export const useAudit = (filter: Filter, enabled: boolean) =>
  useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: async ({ pageParam, signal }): Promise<AuditPage> => {
      const query = { ...queryOf(filter), ...(pageParam !== undefined && { cursor: pageParam }) }
      const response = await send(listAudit, { query, signal })
      return {
        entries: (await response.json()) as AuditEntry[],
        nextCursor: response.headers.get(NEXT_CURSOR_HEADER) ?? undefined,
      }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    enabled,
  })

/** The same entries as a file; a plain link could not carry the access token. */
export const useAuditFile = () =>
  useMutation({
    mutationFn: async (filter: Filter) => {
      const response = await send(listAudit, { query: { ...queryOf(filter), format: 'csv' } }, 'text/csv')
      return response.blob()
    },
    gcTime: 0,
  })
