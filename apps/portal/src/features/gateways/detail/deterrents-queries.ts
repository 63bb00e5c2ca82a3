import { useQuery } from '@tanstack/react-query'
import { listLedger } from 'virtual:contract-calls'
import { api } from '#api/client.ts'

/** The newest 50 entries. */
export const useLedger = (id: string) =>
  useQuery({
    queryKey: ['deterrents', id, 'ledger'],
    queryFn: ({ signal }) => api(listLedger, { params: { id }, query: {}, signal }),
  })
