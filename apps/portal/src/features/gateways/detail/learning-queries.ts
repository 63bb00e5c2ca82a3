import type { BodyOf } from '@hedgerow/contract'
import { useQuery } from '@tanstack/react-query'
import {
  learnGatewayNow,
  readGatewayLearning,
  undoGatewayLearning,
  undoGatewayNames,
  useGatewayNames,
} from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'

/** While it learns. */
const LOOK_AGAIN_MS = 1_000

export const useLearning = (id: string) =>
  useQuery({
    queryKey: ['learning', id],
    queryFn: ({ signal }) => api(readGatewayLearning, { params: { id }, signal }),
    retry: false,
    refetchInterval: ({ state }) => state.data?.state === 'running' && LOOK_AGAIN_MS,
  })

/** Each resolves with the command when it has ended. */
export const useUndoLearning = (id: string) =>
  useChange(['learning', id], (body: BodyOf<typeof undoGatewayLearning>) =>
    api(undoGatewayLearning, { params: { id }, body }),
  )

export const useLearnNow = (id: string) => useChange(['learning', id], () => api(learnGatewayNow, { params: { id } }))

export const useUndoNames = (id: string) =>
  useChange(['learning', id], (number: number) => api(undoGatewayNames, { params: { id }, body: { number } }))

/** The other gateway uses the names that this one learned. */
export const useGiveNames = (gateway: string) =>
  useChange(['learning'], (id: string) => api(useGatewayNames, { params: { id }, body: { gateway } }))
