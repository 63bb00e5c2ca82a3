import type { BodyOf, HubUser } from '@hedgerow/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  createUser,
  createUserInvitation,
  deleteUser,
  listUserInvitations,
  resetUserTwoFactor,
  revokeUserInvitation,
  updateUser,
} from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { USERS_KEY } from '#api/users.ts'

const INVITATIONS_KEY = ['user-invitations'] as const
const REFRESH_MS = 30_000

export const useInvitations = (enabled: boolean) =>
  useQuery({
    queryKey: INVITATIONS_KEY,
    queryFn: ({ signal }) => api(listUserInvitations, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

/** Answers and requests with a password or a code are not cached. */
const NOT_CACHED = { gcTime: 0 }

export type UserFields = Pick<HubUser, 'username' | 'email' | 'firstName' | 'lastName' | 'role' | 'active'>
type WantedUser = { fields: UserFields; seen: UserFields; password: string }

/** Creates a user, or updates the one with `id`, unless somebody else changed it after `seen`. Failures are logged. */
export function useSaveUser(id: string | undefined) {
  const refresh = useRefresh(USERS_KEY)
  return useMutation({
    mutationFn: ({ fields, seen, password }: WantedUser) =>
      id === undefined
        ? api(createUser, { body: { ...fields, password } })
        : api(updateUser, { params: { id }, body: { ...fields, seen } }),
    // Also after a refusal: somebody else may have changed the list, and then it is stale.
    onSettled: refresh,
    onError: (error) => console.error('The user was not saved:', error),
    ...NOT_CACHED,
  })
}

export function useDeleteUser(id: string) {
  const refresh = useRefresh(USERS_KEY)
  return useMutation({
    mutationFn: () => api(deleteUser, { params: { id } }),
    onSettled: refresh,
    onError: (error) => console.error('The user was not deleted:', error),
  })
}

export function useResetTwoFactor(id: string) {
  const refresh = useRefresh(USERS_KEY)
  return useMutation({
    mutationFn: () => api(resetUserTwoFactor, { params: { id } }),
    onSettled: refresh,
  })
}

export function useCreateInvitation() {
  const refresh = useRefresh(INVITATIONS_KEY)
  return useMutation({
    mutationFn: (body: BodyOf<typeof createUserInvitation>) => api(createUserInvitation, { body }),
    onSuccess: refresh,
    ...NOT_CACHED,
  })
}

export function useRevokeInvitation() {
  const refresh = useRefresh(INVITATIONS_KEY)
  return useMutation({
    mutationFn: (id: string) => api(revokeUserInvitation, { params: { id } }),
    onSettled: refresh,
  })
}

function useRefresh(key: readonly string[]) {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: key })
}
