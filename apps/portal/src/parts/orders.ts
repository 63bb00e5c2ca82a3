/** What people order of a gateway's deterrents, for buttons and menus. */
import type { Gateway } from '@hedgerow/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import {
  armGateway,
  disarmGateway,
  endGatewayMaintenance,
  endGatewaySnooze,
  fireDeterrent,
  maintainGateway,
  snoozeGateway,
  stopDeterrents,
} from 'virtual:contract-calls'
import { api, messageOf } from '#api/client.ts'
import { refetchGateways } from '#api/gateways.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { offered, type Order } from './offered.ts'

export type Ordered = Pick<Gateway, 'id' | 'name' | 'protection' | 'snoozes'> & {
  /** A snooze is proposed for this one. */
  camera?: string
}

function send(id: string, order: Order) {
  const params = { id }
  if (order.action === 'fire') return api(fireDeterrent, { params, body: { deterrent: order.deterrent } })
  if (order.action === 'stop') return api(stopDeterrents, { params, body: {} })
  if (order.action === 'arm') return api(armGateway, { params })
  if (order.action === 'snooze') {
    const { action: _action, kind, ...body } = order
    return kind === 'snooze' ? api(snoozeGateway, { params, body }) : api(maintainGateway, { params, body })
  }
  if (order.action === 'end-snooze')
    return order.kind === 'snooze'
      ? api(endGatewaySnooze, { params, body: order.camera === undefined ? {} : { camera: order.camera } })
      : api(endGatewayMaintenance, { params })
  return api(disarmGateway, { params, query: order.lasts === undefined ? {} : { lasts: order.lasts } })
}

/** Resolves with the command when it has ended. */
export function useOrder(id: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (order: Order) => send(id, order),
    onSettled: () =>
      Promise.all([queries.invalidateQueries({ queryKey: ['deterrents', id] }), refetchGateways(queries)]),
  })
}

const DONE = {
  stop: 'everything is off',
  arm: 'armed, rules may fire again',
  disarm: 'everything is off, nothing fires until somebody arms it',
  snooze: 'nothing fires and nothing it sees is an alert until the time is over',
  'end-snooze': 'the snooze has ended',
  '30m': 'everything is off, armed again in 30 minutes',
  '1h': 'everything is off, armed again in an hour',
  morning: 'everything is off, armed again at 7:00',
} as const

const inWords = (order: Exclude<Order, { action: 'fire' }>) =>
  order.action === 'disarm' ? DONE[order.lasts ?? 'disarm'] : DONE[order.action]

/** As `useOrder`; a message says how it ended. */
export function useToldOrder({ id, name }: Ordered) {
  const { mutateAsync, isPending } = useOrder(id)
  const give = async (order: Exclude<Order, { action: 'fire' }>) => {
    const words = inWords(order)
    const message = await mutateAsync(order).then(
      ({ state, message }) => (state === 'done' ? `${name}: ${message || words}` : `${name}: ${message}`),
      (error: unknown) => `${name}: ${messageOf(error)}`,
    )
    void toast(message)
  }
  return { give, isPending }
}

/** The same for several gateways at once; one message says how many took it. */
export function useOrderOfSeveral() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ ids, order }: { ids: readonly string[]; order: Order }) => {
      const ended = await Promise.all(
        ids.map((id) =>
          send(id, order).then(
            ({ state }) => state === 'done',
            () => false,
          ),
        ),
      )
      const done = ended.filter(Boolean).length
      const others = done === ids.length ? '' : ' The others did not answer: try again when they are online.'
      void toast(`${done} of ${ids.length} gateways took it.${others}`)
    },
    onSettled: () => refetchGateways(queries),
  })
}

export const useOffered = ({ protection, snoozes }: Ordered) =>
  offered({ ...protection, snoozes }, mayManageFleet(useUser().role))
