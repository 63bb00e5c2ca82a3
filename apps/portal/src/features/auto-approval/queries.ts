import type { AutoApprovalSettings } from '@hedgerow/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { saveAutoApprovalSettings, testAutoApproval } from 'virtual:contract-calls'
import { AUTO_APPROVAL_KEY } from '#api/auto-approval.ts'
import { api } from '#api/client.ts'

/** Saves the whole object, then reloads the settings. */
export function useSaveAutoApprovalSettings() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: AutoApprovalSettings) => api(saveAutoApprovalSettings, { body }),
    onSuccess: () => queries.refetchQueries({ queryKey: AUTO_APPROVAL_KEY }),
  })
}

export const useTestAutoApproval = () =>
  useMutation({ mutationFn: (ip: string) => api(testAutoApproval, { body: { ip } }) })
