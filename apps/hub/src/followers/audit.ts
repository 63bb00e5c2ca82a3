/**
 * The audit: the facts that leave an entry, as `noun.verb`, and for each other kind the reason why it leaves none. The
 * entry names the fact's actor and target; `hub` is the hub itself, `gateway` a device.
 */
import { CHANNEL_NAMES, type Fact, type FactActor, type FactKind } from '@hedgerow/contract'
import { writeAudit } from '../audit/audit.ts'
import type { TransactionFollower } from '../facts/facts.ts'

type Entry<K extends FactKind> = {
  action: `${string}.${string}`
  result?: 'refused' | ((fact: Fact<K>) => 'ok' | 'refused')
  /** Default: the fact's own target. */
  target?: (fact: Fact<K>) => string | undefined
  reason?: (fact: Fact<K>) => string | undefined
}

export const auditAnswers: { readonly [K in FactKind]: Entry<K> | { none: string } } = {
  'session.started': { action: 'session.start' },
  'session.refused': { action: 'session.start', result: 'refused' },
  'session.ended': { action: 'session.end' },
  'call.refused': { action: 'call.make', result: 'refused' },
  'identity.refused': { action: 'identity.confirm', result: 'refused' },

  'profile.updated': { action: 'profile.update' },
  'two-factor.set-up': { action: 'two-factor.set-up' },
  'two-factor.guessed': { none: 'each wrong code has a refused session.start' },
  'two-factor.enabled': { action: 'two-factor.enable' },
  'two-factor.disabled': { action: 'two-factor.disable' },
  'recovery-codes.renewed': { action: 'two-factor.renew-recovery-codes' },
  'recovery-code.used': { action: 'two-factor.use-recovery-code' },

  'push.subscribed': { action: 'push.subscribe' },
  'push.unsubscribed': { action: 'push.unsubscribe' },

  'user.registered': { action: 'user.register' },
  'user.registration-refused': { action: 'user.register', result: 'refused' },
  'user.created': { action: 'user.create' },
  'user.updated': { action: 'user.update' },
  'user.role-changed': { action: 'user.change-role' },
  'user.activated': { action: 'user.activate' },
  'user.deactivated': { action: 'user.deactivate' },
  'user.password-changed': { action: 'user.change-password' },
  'user.password-reset': { action: 'user.reset-password' },
  'user.two-factor-reset': { action: 'user.reset-two-factor' },
  // The id of a deleted user cannot be looked up.
  'user.deleted': { action: 'user.delete', target: ({ data }) => data.username },
  'user-invitation.created': { action: 'user-invitation.create' },
  'user-invitation.revoked': { action: 'user-invitation.revoke' },

  'registration.requested': { action: 'registration.request' },
  'registration.pending': { none: 'its registration.requested has the entry' },
  'registration.held': { none: 'its registration.requested has the entry' },
  'registration.rejected': { action: 'registration.reject' },
  'registration.source-rejected': { action: 'registration.reject-source' },
  'registration.lifted': { action: 'registration.lift' },
  'registration.claimed': { action: 'gateway.claim' },
  'auto-approval.changed': { action: 'auto-approval.change' },
  'gateway-invitation.created': { action: 'gateway-invitation.create' },
  'gateway-invitation.revoked': { action: 'gateway-invitation.revoke' },

  'gateway.approved': { action: 'registration.approve' },
  'gateway.rekeyed': { action: 'registration.approve' },
  'gateway.added': { action: 'gateway.add' },
  'gateway.edited': { action: 'gateway.edit' },
  'gateway.renamed': { action: 'gateway.edit' },
  'gateway.tagged': { action: 'gateway.tag' },
  'gateway.deleted': { action: 'gateway.delete' },
  'gateway.claimed': { action: 'gateway.claim' },
  'gateway.claim-refused': { action: 'gateway.claim', result: 'refused' },
  'gateway.vpn-config-read': { action: 'gateway.read-vpn-config' },
  'gateway.status-changed': { none: 'a state, not a decision; activity has it' },

  'incident.reviewed': { action: 'incident.review' },
  'incident.review-undone': { action: 'incident.undo-review' },
  'incidents.exported': { action: 'incident.export' },
  'detection.reported': { none: 'data, not a decision; stored as detections' },

  'command.given': { action: 'command.give', target: commandInWords },
  'command.ended': {
    action: 'command.end',
    target: commandInWords,
    result: ({ data }) => (data.state === 'done' ? 'ok' : 'refused'),
    reason: ({ data: { state, code, message } }) => (state === 'done' ? undefined : message || (code ?? undefined)),
  },
  'update.asked': { action: 'update.ask' },
  'update.ended': { none: 'a state, not a decision; activity has it' },
  'update.withdrawn': { none: 'a state, not a decision; activity has the stop' },
  'rollout.started': { none: 'the setting that begins it has the entry' },
  'rollout.stopped': { none: 'a state, not a decision; activity has it' },
  'rollout.stopped-by-hand': { action: 'rollout.stop' },
  'rollout.resumed': { action: 'rollout.resume' },
  'rollout.held': { none: 'a state, not a decision; activity has it' },
  'update.skipped': { action: 'update.skip' },
  'site-updates.changed': { action: 'site-updates.change' },
  'deterrent.fired': { none: "the gateway's ledger has the entry; a person's command has one here" },
  'deterrent.failed': { none: "a state, not a decision; the gateway's ledger and activity have it" },
  'gateway.armed': { none: "the gateway's ledger has the entry; a person's command has one here" },
  'gateway.disarmed': { none: "the gateway's ledger has the entry; a person's command has one here" },
  'ledger.written': { none: 'data, not a decision; stored as the ledger' },

  'storage.low': { none: 'a state, not a decision; activity has it' },
  'alert.raised': { none: 'the hub tells what a rule asks for; the rule has the entry' },
  'alert.cleared': { none: 'a state, not a decision; the list of alerts has it' },
  'alert.escalated': { none: 'the hub tells what a rule asks for; the rule has the entry' },
  'alert.acknowledged': {
    action: 'alert.acknowledge',
    target: ({ data }) => data.title,
    reason: ({ data: { via }, actor }) => (via === 'portal' ? undefined : linkInWords(via, actor)),
  },
  'alert-rule.saved': { action: 'alert-rule.save', target: ({ data }) => data.name },
  'alert-rule.deleted': { action: 'alert-rule.delete', target: ({ data }) => data.name },
  'notification.tested': { action: 'notification.test' },
  'notification.sent-again': {
    action: 'notification.send-again',
    target: ({ data }) => `${data.channel}: ${data.title}`,
  },
  'settings.changed': { action: 'settings.change' },
  'settings.restored': { action: 'settings.change' },
  'certificate.expiring': { none: 'a state, not a decision; activity has it' },
  'certificate.renewed': { action: 'certificate.renew' },
  'certificate.replaced': { none: 'the operator replaced files, outside the hub' },
}

/** Every action that an entry may name. */
export const AUDIT_ACTIONS: readonly string[] = [
  ...new Set(Object.values(auditAnswers).flatMap((answer) => ('action' in answer ? answer.action : []))),
]

export const audit: TransactionFollower = {
  name: 'audit',
  kinds: (Object.keys(auditAnswers) as FactKind[]).filter((kind) => 'action' in auditAnswers[kind]),
  async inTransaction(transaction, facts) {
    for (const fact of facts) await writeEntry(transaction, fact)
  },
}

/** `fire sprinkler of abcdefghijkl` */
function commandInWords({ data, gatewayId }: Fact<'command.given' | 'command.ended'>): string {
  const { action, deterrent, learning } = data
  const what = learning ? `${learning.label} on ${learning.camera} of ` : deterrent === null ? '' : `${deterrent} of `
  return `${action} ${what}${gatewayId}`
}

/** The messages of channels that are more than a name: `a mail to rosa.lind`. */
const MESSAGES: Readonly<Record<string, string>> = {
  email: 'a mail to the notification email',
  person: 'a mail',
  push: 'a push message',
}

/** `by the link in a message over ntfy` */
export function linkInWords(via: string, { name, userId }: FactActor): string {
  const message = MESSAGES[via] ?? `a message over ${CHANNEL_NAMES[via] ?? via}`
  return `by the link in ${message}${userId === undefined ? '' : ` to ${name}`}`
}

async function writeEntry<K extends FactKind>(
  transaction: Parameters<TransactionFollower['inTransaction']>[0],
  fact: Fact<K>,
): Promise<void> {
  const answer: Entry<K> | { none: string } = auditAnswers[fact.kind as K]
  if ('none' in answer) return
  const { actor } = fact
  await writeAudit(transaction, {
    actor: actor.name,
    actorId: actor.userId,
    action: answer.action,
    target: answer.target ? answer.target(fact) : fact.target,
    sourceIp: actor.sourceIp,
    result: typeof answer.result === 'function' ? answer.result(fact) : (answer.result ?? 'ok'),
    reason: answer.reason?.(fact),
  })
}
