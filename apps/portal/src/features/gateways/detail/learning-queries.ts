import type { BodyOf } from '@hedgerow/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { readGatewayLearning, undoGatewayLearning } from 'virtual:contract-calls'
import { api } from '#api/client.ts'

export const useLearning = (id: string) =>
  useQuery({
    queryKey: ['learning', id],
    queryFn: ({ signal }) => api(readGatewayLearning, { params: { id }, signal }),
    retry: false,
  })

/** Resolves with the command when it has ended. */
export function useUndoLearning(id: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof undoGatewayLearning>) => api(undoGatewayLearning, { params: { id }, body }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['learning', id] }),
  })
}
