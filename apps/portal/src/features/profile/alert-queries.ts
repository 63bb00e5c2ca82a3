import type { AlertPreferences } from '@hedgerow/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  editAlertPreferences,
  readAlertPreferences,
  readPush,
  subscribePush,
  testPush,
  unsubscribePush,
} from 'virtual:contract-calls'
import { rememberPushFor } from '#api/browser-push.ts'
import { api } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'
import { useUser } from '#api/session.tsx'
import { subscribeBrowser } from './push.ts'

const PREFERENCES_KEY = ['profile', 'alert-preferences'] as const
const PUSH_KEY = ['profile', 'push'] as const

export const useAlertPreferences = () =>
  useQuery({ queryKey: PREFERENCES_KEY, queryFn: ({ signal }) => api(readAlertPreferences, { signal }) })

export function useSaveAlertPreferences() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ preferences, seen }: { preferences: AlertPreferences; seen: AlertPreferences }) =>
      api(editAlertPreferences, { body: { ...preferences, seen } }),
    onSuccess: (saved) => queries.setQueryData(PREFERENCES_KEY, saved),
    onError: () => queries.invalidateQueries({ queryKey: PREFERENCES_KEY, exact: true }),
  })
}

export const usePush = () => useQuery({ queryKey: PUSH_KEY, queryFn: ({ signal }) => api(readPush, { signal }) })

export function useSubscribe() {
  const queries = useQueryClient()
  const { id } = useUser()
  return useMutation({
    mutationFn: async (publicKey: string) => api(subscribePush, { body: await subscribeBrowser(publicKey) }),
    onSuccess: () => rememberPushFor(id),
    onSettled: () => queries.invalidateQueries({ queryKey: PUSH_KEY }),
  })
}

export const useUnsubscribe = () => useChange(PUSH_KEY, (id: string) => api(unsubscribePush, { params: { id } }))

export const useTestPush = () => useChange(PUSH_KEY, (id: string) => api(testPush, { params: { id } }))
