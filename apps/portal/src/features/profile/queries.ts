import type { BodyOf } from '@hedgerow/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  changePassword,
  createToken,
  disableTwoFactor,
  editProfile,
  endSession,
  listProviderLinks,
  listSessions,
  listTokens,
  readProfile,
  unlinkProvider,
  revokeToken,
} from 'virtual:contract-calls'
import { api, replaceToken } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'
import { useSession } from '#api/session.tsx'

const PROFILE_KEY = ['profile'] as const
const SESSIONS_KEY = ['sessions'] as const
const LINKS_KEY = ['provider-links'] as const
const TOKENS_KEY = ['tokens'] as const
const SESSIONS_REFRESH_MS = 30_000

export const useProfile = () =>
  useQuery({ queryKey: PROFILE_KEY, queryFn: ({ signal }) => api(readProfile, { signal }) })

export const useSessions = () =>
  useQuery({
    queryKey: SESSIONS_KEY,
    queryFn: ({ signal }) => api(listSessions, { signal }),
    refetchInterval: SESSIONS_REFRESH_MS,
  })

export function useSaveProfile() {
  const queries = useQueryClient()
  const { refresh } = useSession()
  return useMutation({
    mutationFn: (body: BodyOf<typeof editProfile>) => api(editProfile, { body }),
    onError: () => queries.invalidateQueries({ queryKey: PROFILE_KEY, exact: true }),
    onSuccess: (profile) => {
      queries.setQueryData(PROFILE_KEY, profile)
      // The page only has a copy of the person, so a failed refresh does not mean that saving failed.
      void refresh().catch((error: unknown) => console.error('The person was not refreshed:', error))
    },
  })
}

/** Not cached, because the request contains both passwords. */
export const useChangePassword = () =>
  useChange(SESSIONS_KEY, (body: BodyOf<typeof changePassword>) => replaceToken(() => api(changePassword, { body })), {
    gcTime: 0,
  })

export const useEndSession = () => useChange(SESSIONS_KEY, (id: string) => api(endSession, { params: { id } }))

export const useProviderLinks = () =>
  useQuery({ queryKey: LINKS_KEY, queryFn: ({ signal }) => api(listProviderLinks, { signal }) })

export const useUnlinkProvider = () => useChange(LINKS_KEY, (id: string) => api(unlinkProvider, { params: { id } }))
export const useTokens = () => useQuery({ queryKey: TOKENS_KEY, queryFn: ({ signal }) => api(listTokens, { signal }) })

/** Not cached, because the request has the password and the answer the token. */
export const useCreateToken = () =>
  useChange(TOKENS_KEY, (body: BodyOf<typeof createToken>) => api(createToken, { body }), { gcTime: 0 })

export const useRevokeToken = () => useChange(TOKENS_KEY, (id: string) => api(revokeToken, { params: { id } }))

export function useDisableTwoFactor() {
  const refreshProfile = useRefreshProfile()
  return useMutation({
    mutationFn: (body: BodyOf<typeof disableTwoFactor>) => api(disableTwoFactor, { body }),
    onSuccess: refreshProfile,
    gcTime: 0,
  })
}

export function useRefreshProfile() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: PROFILE_KEY })
}
