import { Link } from 'react-router'
import { useAutoApprovalSettings } from '#api/auto-approval.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'

/**
 * Says so where the rules make devices wait in spite of an invitation. Without a link where leaving would lose
 * something.
 */
export function RulesNotice({ mayLeave = false }: { mayLeave?: boolean }) {
  const rules = useAutoApprovalSettings(true).data
  if (rules === undefined || (rules.enabled && rules.autoApproveWithInvitation)) return null
  const off = rules.enabled ? 'Approval by invitation' : 'Auto-approval'
  return (
    <Notice tone="plain">
      {off} is off, so a device with an invitation still waits under Approvals until somebody lets it in.{' '}
      {mayLeave && <Link to="/auto-approval-settings">Change the rules</Link>}
    </Notice>
  )
}
