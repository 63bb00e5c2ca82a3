import { QueryCache, useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { deviceCalls } from 'virtual:device-calls'
import type { DeviceSession } from '@hedgerow/contract/device-interface'
import { createQueryClient } from '@hedgerow/ui/query-client.ts'
import { ask, DeviceError } from './calls.ts'

const STATUS_REFRESH_MS = 3_000

/** A call that finds the session ended shows the sign-in. */
export function createDeviceQueries(): QueryClient {
  const queries: QueryClient = createQueryClient(
    new QueryCache({
      onError(error) {
        if (error instanceof DeviceError && error.code === 'not_signed_in') queries.setQueryData(SESSION, null)
      },
    }),
  )
  return queries
}

const SESSION = ['session']

/** Null: nobody is signed in. */
export const useSession = () =>
  useQuery<DeviceSession | null>({
    queryKey: SESSION,
    async queryFn({ signal }) {
      try {
        return await ask(deviceCalls.getSession, { signal })
      } catch (error) {
        if (error instanceof DeviceError && error.code === 'not_signed_in') return null
        throw error
      }
    },
    staleTime: Infinity,
  })

export function useSignIn() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (password: string) => ask(deviceCalls.signIn, { body: { password } }),
    onSuccess: (session) => queries.setQueryData(SESSION, session),
  })
}

export function useSignOut() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => ask(deviceCalls.signOut, {}),
    onSuccess() {
      queries.clear()
      queries.setQueryData(SESSION, null)
    },
  })
}

const STATUS = ['status']

export const useStatus = (isSignedIn = true) =>
  useQuery({
    queryKey: STATUS,
    queryFn: ({ signal }) => ask(deviceCalls.getStatus, { signal }),
    enabled: isSignedIn,
    refetchInterval: STATUS_REFRESH_MS,
  })

export type Order = { action: 'stop' | 'arm' | 'disarm' } | { action: 'fire' | 'stop-one'; deterrent: string }

/** Resolves when the device has done it, or rejects with its refusal. */
export function useOrder() {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn(order: Order): Promise<void> {
      if (order.action === 'fire') await ask(deviceCalls.fireDeterrent, { params: { name: order.deterrent }, body: {} })
      else if (order.action === 'stop-one') await ask(deviceCalls.stopDeterrent, { params: { name: order.deterrent } })
      else if (order.action === 'stop') await ask(deviceCalls.stopAll, {})
      else await ask(deviceCalls[order.action], {})
    },
    onSettled: () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] }),
  })
}
