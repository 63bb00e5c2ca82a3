import type { Certificate, HubSettings } from '@hedgerow/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { listCertificates, readHomeAssistant, renewCertificate, saveHubSettings } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { useChange } from '#api/use-change.ts'
import { HUB_SETTINGS_KEY } from '#api/hub-settings.ts'

const CERTIFICATES_KEY = ['certificates'] as const

/** Sends the whole object; when somebody else changed it after `seen`, the form shows that. */
export function useSaveSettings() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ settings, seen }: { settings: HubSettings; seen: HubSettings }) =>
      api(saveHubSettings, { body: { ...settings, seen } }),
    onSuccess: (saved) => {
      queries.setQueryData(HUB_SETTINGS_KEY, saved)
      // Its banner says when the VPN is off.
      return queries.invalidateQueries({ queryKey: ['dashboard'] })
    },
    onError: () => queries.invalidateQueries({ queryKey: HUB_SETTINGS_KEY }),
  })
}

/** Refetched, because the connection changes without an action of the portal. */
const REFRESH_MS = 15_000

export const useHomeAssistant = (enabled: boolean) =>
  useQuery({
    queryKey: ['home-assistant'],
    queryFn: ({ signal }) => api(readHomeAssistant, { signal }),
    refetchInterval: REFRESH_MS,
    enabled,
  })

export const useCertificates = () =>
  useQuery({ queryKey: CERTIFICATES_KEY, queryFn: ({ signal }) => api(listCertificates, { signal }) })

export const useRenewCertificate = () =>
  useChange(CERTIFICATES_KEY, (id: Certificate['id']) => api(renewCertificate, { params: { id } }))
