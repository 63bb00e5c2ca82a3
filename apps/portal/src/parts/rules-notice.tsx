import { Link } from 'react-router'
import { useAutoApprovalSettings } from '#api/auto-approval.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'

/**
 * A notice while the rules make devices wait in spite of an invitation. It has no link where leaving the page would
 * lose the code.
 */
export function RulesNotice({ mayLeave = false }: { mayLeave?: boolean }) {
  const rules = useAutoApprovalSettings(true).data
  if (rules === undefined || (rules.enabled && rules.autoApproveWithInvitation)) return null
  const off = rules.enabled ? 'Approval by invitation' : 'Auto-approval'
  return (
    <Notice tone="plain">
      {off} is off, so a device with an invitation still waits under Approvals until somebody approves it.{' '}
      {mayLeave && <Link to="/auto-approval-settings">Change the rules</Link>}
    </Notice>
  )
}
