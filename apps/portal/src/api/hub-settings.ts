import { useQuery } from '@tanstack/react-query'
import { readHubSettings } from 'virtual:contract-calls'
import { api } from './client.ts'

export const HUB_SETTINGS_KEY = ['hub-settings'] as const

/** The hub's settings, which everyone signed in may see. */
export const useHubSettings = () =>
  useQuery({ queryKey: HUB_SETTINGS_KEY, queryFn: ({ signal }) => api(readHubSettings, { signal }), staleTime: 60_000 })
