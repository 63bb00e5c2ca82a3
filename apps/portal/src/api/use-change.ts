import { useMutation, useQueryClient, type QueryKey, type UseMutationResult } from '@tanstack/react-query'

/** `exact`: only `key` itself is stale. `gcTime` is 0 where a request or an answer holds a secret. */
type ChangeOptions = { exact?: boolean; gcTime?: number; onError?: (error: Error) => void }

/**
 * A call that changes what is read under `key`, which is then read again; also after a refusal, because somebody else
 * may have changed it.
 */
export function useChange<Input = void, Answer = unknown>(
  key: QueryKey,
  mutationFn: (input: Input) => Promise<Answer>,
  { exact = false, ...options }: ChangeOptions = {},
): UseMutationResult<Answer, Error, Input> {
  const queries = useQueryClient()
  return useMutation({
    mutationFn,
    onSettled: () => queries.invalidateQueries({ queryKey: key, exact }),
    ...options,
  })
}
