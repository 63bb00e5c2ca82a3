import type { AutoApprovalSettings } from '@hedgerow/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { saveAutoApprovalSettings, testAutoApproval } from 'virtual:contract-calls'
import { AUTO_APPROVAL_KEY } from '#api/auto-approval.ts'
import { api } from '#api/client.ts'

/**
 * Saves the whole object, then reloads the settings, also when somebody else changed them after `seen`: the form then
 * shows those.
 */
export function useSaveAutoApprovalSettings() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ settings, seen }: { settings: AutoApprovalSettings; seen: AutoApprovalSettings }) =>
      api(saveAutoApprovalSettings, { body: { ...settings, seen } }),
    onSettled: () => queries.refetchQueries({ queryKey: AUTO_APPROVAL_KEY }),
  })
}

export const useTestAutoApproval = () =>
  useMutation({ mutationFn: (ip: string) => api(testAutoApproval, { body: { ip } }) })
