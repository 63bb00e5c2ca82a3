/** The calls by which a person sets up a deterrent; saving it is a change of the file (`settings.ts`). */
import { useMutation, useQuery } from '@tanstack/react-query'
import { deviceCalls } from 'virtual:device-calls'
import type { BodyOf } from '@hedgerow/contract'
import { ask } from './calls.ts'
import { useOrder } from './queries.ts'

export const useDeterrentKinds = (isAllowed: boolean) =>
  useQuery({
    queryKey: ['deterrent-kinds'],
    queryFn: ({ signal }) => ask(deviceCalls.readDeterrentKinds, { signal }),
    enabled: isAllowed,
    staleTime: Infinity,
  })

export const useFindDeterrents = () =>
  useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.findDeterrents>) => ask(deviceCalls.findDeterrents, { body }),
  })

export const useReadOutputs = () =>
  useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.readOutputs>) => ask(deviceCalls.readOutputs, { body }),
  })

/** A press to test, and Stop beside it. */
export function useTrialFiring() {
  const firing = useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.tryDeterrent>) => ask(deviceCalls.tryDeterrent, { body }),
  })
  return { firing, stop: useOrder() }
}
