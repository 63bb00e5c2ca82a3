import type { BodyOf, HubUser } from '@hedgerow/contract'
import { useQuery } from '@tanstack/react-query'
import {
  createUser,
  createUserInvitation,
  deleteUser,
  editUser,
  listUserInvitations,
  readNotificationChannels,
  resetUserTwoFactor,
  revokeUserInvitation,
  updateUser,
} from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'
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

/** Whether the hub can send mail to a person; undefined while nobody knows. */
export const useSendsMail = () =>
  useQuery({
    queryKey: ['sends-mail'],
    queryFn: async ({ signal }) => (await api(readNotificationChannels, { signal })).channels['person'] === true,
  }).data

/** Answers and requests with a password or a code are not cached. */
const NOT_CACHED = { gcTime: 0 }

export type UserFields = Pick<HubUser, 'username' | 'email' | 'firstName' | 'lastName' | 'role' | 'active'>
type WantedUser = { fields: UserFields; seen: UserFields; password: string }

/** Creates a user, or updates the one with `id`, unless somebody else changed it after `seen`. Failures are logged. */
export const useSaveUser = (id: string | undefined) =>
  useChange(
    USERS_KEY,
    ({ fields, seen, password }: WantedUser) =>
      id === undefined
        ? api(createUser, { body: { ...fields, password } })
        : api(updateUser, { params: { id }, body: { ...fields, seen } }),
    { onError: (error) => console.error('The user was not saved:', error), ...NOT_CACHED },
  )

export const useActivateUser = (id: string) =>
  useChange(USERS_KEY, (active: boolean) => api(editUser, { params: { id }, body: { active } }))

export const useDeleteUser = (id: string) =>
  useChange(USERS_KEY, () => api(deleteUser, { params: { id } }), {
    onError: (error) => console.error('The user was not deleted:', error),
  })

export const useResetTwoFactor = (id: string) => useChange(USERS_KEY, () => api(resetUserTwoFactor, { params: { id } }))

export const useCreateInvitation = () =>
  useChange(
    INVITATIONS_KEY,
    (body: BodyOf<typeof createUserInvitation>) => api(createUserInvitation, { body }),
    NOT_CACHED,
  )

export const useRevokeInvitation = () =>
  useChange(INVITATIONS_KEY, (id: string) => api(revokeUserInvitation, { params: { id } }))
