/**
 * Decides which request is approved without a person: one pure function for both the enrolment and the settings page's
 * test, so that they never disagree. Key changes, deleted gateways and rejected identities never get here; enrolment.ts
 * keeps those waiting.
 */
import type { AutoApprovalSettings } from '@hedgerow/contract'
import { createFindTrusted } from './trusted-sources.ts'

export type AutoApprovalRequest = {
  sourceIp: string
  /** It has a valid invitation that approves. */
  isInvited: boolean
}

export type AutoApprovalDecision = {
  approve: boolean
  rule: 'off' | 'invitation' | 'address' | 'range' | 'approval-required' | 'none'
  /** The reason, for use after a colon. */
  reason: string
  /** A sentence for the settings page; it names the rule. */
  message: string
}

export function decide(settings: AutoApprovalSettings, request: AutoApprovalRequest): AutoApprovalDecision {
  const { rule, approve, reason } = ruleFor(settings, request)
  const outcome = approve ? 'would be approved' : 'would wait for approval'
  return { approve, rule, reason, message: `${request.sourceIp} ${outcome}: ${reason}.` }
}

function ruleFor(
  settings: AutoApprovalSettings,
  { sourceIp, isInvited }: AutoApprovalRequest,
): Omit<AutoApprovalDecision, 'message'> {
  if (!settings.enabled) return { approve: false, rule: 'off', reason: 'auto-approval is off' }
  if (isInvited && settings.autoApproveWithInvitation)
    return { approve: true, rule: 'invitation', reason: 'it has a valid invitation' }
  const trusted = createFindTrusted(settings)(sourceIp)
  if (!trusted) return { approve: false, rule: 'none', reason: 'it is in no listed address or range' }
  const where = trusted.kind === 'range' ? `it is in ${trusted.entry}` : 'it is in the IP whitelist'
  if (settings.requireAdminApproval)
    return { approve: false, rule: 'approval-required', reason: `${where}, but an administrator must approve` }
  return { approve: true, rule: trusted.kind, reason: where }
}
