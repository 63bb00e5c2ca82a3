import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { armGateway, disarmGateway, fireDeterrent, listLedger, stopDeterrents } from 'virtual:contract-calls'
import { api } from '#api/client.ts'

export type Order = { action: 'stop' | 'arm' | 'disarm' } | { action: 'fire'; deterrent: string }

/** The newest 50 entries. */
export const useLedger = (id: string) =>
  useQuery({
    queryKey: ['deterrents', id, 'ledger'],
    queryFn: ({ signal }) => api(listLedger, { params: { id }, query: {}, signal }),
  })

/** Resolves with the command when it has ended. */
export function useOrder(id: string) {
  const queries = useQueryClient()
  const params = { id }
  return useMutation({
    mutationFn: (order: Order) => {
      if (order.action === 'fire') return api(fireDeterrent, { params, body: { deterrent: order.deterrent } })
      if (order.action === 'stop') return api(stopDeterrents, { params, body: {} })
      return api(order.action === 'arm' ? armGateway : disarmGateway, { params })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['deterrents', id] }),
  })
}
