/** What people order of a gateway's deterrents, for buttons and menus. */
import type { Gateway } from '@hedgerow/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { armGateway, disarmGateway, fireDeterrent, stopDeterrents } from 'virtual:contract-calls'
import { api, messageOf } from '#api/client.ts'
import { refetchGateways } from '#api/gateways.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { offered, type Order } from './offered.ts'

export type Ordered = Pick<Gateway, 'id' | 'name' | 'protection'>

/** Resolves with the command when it has ended. */
export function useOrder(id: string) {
  const queries = useQueryClient()
  const params = { id }
  return useMutation({
    mutationFn: (order: Order) => {
      if (order.action === 'fire') return api(fireDeterrent, { params, body: { deterrent: order.deterrent } })
      if (order.action === 'stop') return api(stopDeterrents, { params, body: {} })
      if (order.action === 'arm') return api(armGateway, { params })
      return api(disarmGateway, { params, query: order.lasts === undefined ? {} : { lasts: order.lasts } })
    },
    onSettled: () =>
      Promise.all([queries.invalidateQueries({ queryKey: ['deterrents', id] }), refetchGateways(queries)]),
  })
}

const DONE = {
  stop: 'everything is off',
  arm: 'armed, rules may fire again',
  disarm: 'everything is off, nothing fires until somebody arms it',
  '30m': 'everything is off, armed again in 30 minutes',
  '1h': 'everything is off, armed again in an hour',
  morning: 'everything is off, armed again at 7:00',
} as const

/** As `useOrder`; a message says how it ended. */
export function useToldOrder({ id, name }: Ordered) {
  const { mutateAsync, isPending } = useOrder(id)
  const give = async (order: Exclude<Order, { action: 'fire' }>) => {
    const words = order.action === 'disarm' ? DONE[order.lasts ?? 'disarm'] : DONE[order.action]
    const message = await mutateAsync(order).then(
      ({ state, message }) => (state === 'done' ? `${name}: ${message || words}` : `${name}: ${message}`),
      (error: unknown) => `${name}: ${messageOf(error)}`,
    )
    void toast(message)
  }
  return { give, isPending }
}

export const useOffered = ({ protection }: Ordered) => offered(protection, mayManageFleet(useUser().role))
