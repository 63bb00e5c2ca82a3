/**
 * Everything that leaves an entry, as `noun.verb`. A test holds each call that changes something to one of them, and each
 * of them to a call that writes it.
 */
export const AUDIT_ACTIONS = [
  'session.start',
  'session.end',
  'profile.update',
  /** Refused only: a signed-in person gave a wrong password or code where it is asked for again. */
  'identity.confirm',
  'two-factor.set-up',
  'two-factor.enable',
  'two-factor.disable',
  'two-factor.renew-recovery-codes',
  'two-factor.use-recovery-code',
  'user.register',
  'user.create',
  'user.update',
  'user.change-role',
  'user.activate',
  'user.deactivate',
  'user.change-password',
  'user.reset-password',
  'user.reset-two-factor',
  'user.delete',
  'user-invitation.create',
  'user-invitation.revoke',
  'gateway.add',
  'gateway.edit',
  'gateway.delete',
  'gateway.claim',
  'gateway.read-vpn-config',
  'registration.request',
  'registration.approve',
  'registration.reject',
  'registration.reject-source',
  'registration.lift',
  'gateway-invitation.create',
  'gateway-invitation.revoke',
  'auto-approval.change',
  'notification.test',
  'settings.change',
  'certificate.renew',
  /** Refused only: a call that the person's role does not allow. */
  'call.make',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]
