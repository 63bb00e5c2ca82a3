import type { BodyOf } from '@hedgerow/contract'
import { useQuery } from '@tanstack/react-query'
import { readGatewayLearning, undoGatewayLearning } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'

export const useLearning = (id: string) =>
  useQuery({
    queryKey: ['learning', id],
    queryFn: ({ signal }) => api(readGatewayLearning, { params: { id }, signal }),
    retry: false,
  })

/** Resolves with the command when it has ended. */
export const useUndoLearning = (id: string) =>
  useChange(['learning', id], (body: BodyOf<typeof undoGatewayLearning>) =>
    api(undoGatewayLearning, { params: { id }, body }),
  )
