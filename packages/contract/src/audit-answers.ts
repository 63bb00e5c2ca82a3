/**
 * The audit: the facts that leave an entry, with its words, and for each other kind the reason why it leaves none. The
 * hub writes the entries and the portal shows them, so one file has both. The entry names the fact's actor and target;
 * `hub` is the hub itself, `gateway` a device.
 */
import { CHANNEL_NAMES } from './constants.ts'
import type { Fact, FactActor, FactKind } from './facts.ts'

/** The kind of an action's target: decides whether it has a page and a name. */
export type AuditTargetKind = 'gateway' | 'user' | 'command' | 'channel' | 'settings' | 'text' | 'none'
export type AuditWords = { done: string; refused?: string; target: AuditTargetKind }

const own = (done: string, refused?: string): AuditWords => ({
  done,
  target: 'none',
  ...(refused !== undefined && { refused }),
})

/** Each action, as `noun.verb`, and the words after the actor; the target follows them. */
export const auditWords = {
  'session.start': own('signed in', 'could not sign in'),
  'session.end': own('signed out'),
  'call.make': { done: 'called', refused: 'is not allowed to call', target: 'text' },
  'identity.confirm': own('confirmed their identity', 'gave a wrong password or code'),
  'profile.update': own('changed their profile'),
  'two-factor.set-up': own('started to set up two-factor'),
  'two-factor.enable': own('switched two-factor on'),
  'two-factor.disable': own('switched two-factor off'),
  'two-factor.renew-recovery-codes': own('renewed their recovery codes'),
  'two-factor.use-recovery-code': own('used a recovery code'),
  'provider.link': { done: 'linked their account at the provider', target: 'text' },
  'provider.unlink': { done: 'removed the link with their account at the provider', target: 'text' },
  'token.create': { done: 'made the token', target: 'text' },
  'token.revoke': { done: 'revoked the token', target: 'text' },
  'push.subscribe': own('switched push messages on in a browser'),
  'push.unsubscribe': own('removed a browser with push messages'),
  'password-reset.send': own('was sent a link that sets a new password'),
  'user.register': own('registered', 'could not register: the invite code is wrong'),
  'user.create': { done: 'added the user', target: 'user' },
  'user.update': { done: 'edited the user', target: 'user' },
  'user.change-role': { done: 'changed the role of', target: 'user' },
  'user.activate': { done: 'activated the user', target: 'user' },
  'user.deactivate': { done: 'deactivated the user', target: 'user' },
  'user.change-password': own('changed their password'),
  'user.reset-password': { done: 'reset the password of', target: 'user' },
  'user.reset-two-factor': { done: 'reset two-factor of', target: 'user' },
  'user.allow-local-sign-in': { done: 'allowed to sign in with a password for an hour:', target: 'user' },
  'user.delete': { done: 'deleted the user', target: 'text' },
  'user-invitation.create': { done: 'created the user invitation', target: 'text' },
  'user-invitation.revoke': { done: 'revoked the user invitation', target: 'text' },
  'registration.request': { done: 'asked to join:', target: 'text' },
  'registration.approve': { done: 'approved the request of', target: 'text' },
  'registration.reject': { done: 'rejected the request of', target: 'text' },
  'registration.reject-source': { done: 'rejected all requests from', target: 'text' },
  'registration.lift': { done: 'withdrew the rejection of', target: 'text' },
  'auto-approval.change': own('changed the auto-approval settings'),
  'gateway-invitation.create': { done: 'created the gateway invitation', target: 'text' },
  'gateway-labels.create': { done: 'created gateway labels:', target: 'text' },
  'gateway-invitation.revoke': { done: 'revoked the gateway invitation', target: 'text' },
  'gateway.add': { done: 'added the gateway', target: 'gateway' },
  'gateway.edit': { done: 'edited the gateway', target: 'gateway' },
  'gateway.change-site': { done: 'changed the site of the gateway', target: 'gateway' },
  'site.add': { done: 'added the site', target: 'text' },
  'site.edit': { done: 'edited the site', target: 'text' },
  'site.rename': { done: 'renamed the site', target: 'text' },
  'site.delete': { done: 'deleted the site', target: 'text' },
  'gateway.tag': { done: 'changed the tags of the gateway', target: 'gateway' },
  'gateway.delete': { done: 'deleted the gateway', target: 'gateway' },
  'gateway.claim': { done: 'claimed the gateway', refused: 'could not claim a gateway', target: 'gateway' },
  'gateway.open': { done: 'opened the pages of', target: 'gateway' },
  // A device tells it: who it was is in the reason, because nothing proves the name.
  'device.use': { done: 'was used by a person:', refused: 'refused a password:', target: 'gateway' },
  'device.save-file': { done: 'has a new gateway.yaml:', target: 'gateway' },
  'gateway.read-vpn-config': { done: 'read the VPN configuration of', target: 'gateway' },
  'command.give': { done: 'gave the command', target: 'command' },
  'command.end': {
    done: 'had a command carried out:',
    refused: 'gave a command that was not carried out:',
    target: 'command',
  },
  'update.ask': { done: 'had a new version installed on', target: 'gateway' },
  'update.skip': { done: 'let the automatic updates go on without the gateway', target: 'gateway' },
  'site-updates.change': { done: 'changed the automatic updates of the site', target: 'text' },
  'rollout.stop': { done: 'stopped the automatic updates to version', target: 'text' },
  'rollout.resume': { done: 'let the automatic updates go on, to version', target: 'text' },
  'incident.undo-review': { done: 'undid a review of the incident', target: 'text' },
  'incident.review': { done: 'reviewed the incident', target: 'text' },
  'incident.export': own('exported detections and pictures'),
  'alert.acknowledge': { done: 'acknowledged the alert', target: 'text' },
  'alert-rule.save': { done: 'saved the alert rule', target: 'text' },
  'alert-rule.delete': { done: 'deleted the alert rule', target: 'text' },
  'channel.change': { done: 'changed the channel', target: 'channel' },
  'notification.test': { done: 'asked for a test message over', target: 'channel' },
  'notification.send-again': { done: 'sent again over', target: 'text' },
  'settings.change': { done: 'changed the settings', target: 'settings' },
  'certificate.renew': { done: 'renewed the certificate', target: 'text' },
} as const satisfies Readonly<Record<string, AuditWords>>

export type AuditAction = keyof typeof auditWords

export type AuditAnswer<K extends FactKind> = {
  action: AuditAction
  result?: 'refused' | ((fact: Fact<K>) => 'ok' | 'refused')
  /** Default: the fact's own target. */
  target?: (fact: Fact<K>) => string | undefined
  reason?: (fact: Fact<K>) => string | undefined
}

export const auditAnswers: { readonly [K in FactKind]: AuditAnswer<K> | { none: string } } = {
  'session.started': { action: 'session.start', reason: ({ data }) => data.provider && `with ${data.provider}` },
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

  'provider.linked': { action: 'provider.link', target: ({ data }) => data.provider },
  'provider.unlinked': { action: 'provider.unlink', target: ({ data }) => data.provider },
  'token.created': {
    action: 'token.create',
    target: ({ data }) => data.name,
    reason: ({ data: { role, access } }) => `${role}, ${access === 'read' ? 'reads only' : 'reads and changes'}`,
  },
  'token.revoked': { action: 'token.revoke', target: ({ data }) => data.name },

  'push.subscribed': { action: 'push.subscribe' },
  'push.unsubscribed': { action: 'push.unsubscribe' },

  'password-reset.sent': { action: 'password-reset.send' },
  'user.registered': { action: 'user.register' },
  'user.registration-refused': { action: 'user.register', result: 'refused' },
  'user.local-sign-in-allowed': { action: 'user.allow-local-sign-in' },
  'user.created': { action: 'user.create' },
  'user.updated': { action: 'user.update' },
  'user.role-changed': { action: 'user.change-role' },
  'user.activated': { action: 'user.activate' },
  'user.deactivated': { action: 'user.deactivate' },
  'user.password-changed': { action: 'user.change-password' },
  'user.password-reset': {
    action: 'user.reset-password',
    reason: ({ data: { byMail } }) => (byMail ? 'by the link in a mail' : undefined),
  },
  'user.two-factor-reset': { action: 'user.reset-two-factor' },
  // The id of a deleted user cannot be looked up.
  'user.deleted': { action: 'user.delete', target: ({ data }) => data.username },
  'user-invitation.created': {
    action: 'user-invitation.create',
    reason: ({ data: { email } }) => (email === undefined ? undefined : `by mail to ${email}`),
  },
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
  'gateway-labels.created': { action: 'gateway-labels.create' },
  'gateway-invitation.revoked': { action: 'gateway-invitation.revoke' },

  'gateway.approved': { action: 'registration.approve' },
  'gateway.rekeyed': { action: 'registration.approve' },
  'gateway.added': { action: 'gateway.add' },
  'gateway.edited': { action: 'gateway.edit' },
  'gateway.renamed': { action: 'gateway.edit' },
  'gateway.site-changed': { action: 'gateway.change-site' },
  'site.added': { action: 'site.add' },
  'site.edited': { action: 'site.edit' },
  'site.renamed': { action: 'site.rename', target: ({ target, data }) => `${data.before} to ${target}` },
  'site.deleted': { action: 'site.delete' },
  'site.orphaned': { none: 'the change of the gateway has the entry; activity has it' },
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
  'gateway.armed': { none: "the gateway's ledger has the entry; a person's act has one here" },
  'gateway.disarmed': { none: "the gateway's ledger has the entry; a person's command has one here" },
  'gateway.snoozed': { none: "the gateway's ledger has the entry; a person's command has one here" },
  'gateway.snooze-ended': { none: "the gateway's ledger has the entry; a person's command has one here" },
  'gateway.opened': {
    action: 'gateway.open',
    reason: ({ data: { application } }) => (application === null ? undefined : `application ${application}`),
  },
  'device.used': { action: 'device.use', reason: didOf },
  'device.file-saved': { action: 'device.save-file', reason: didOf },
  'device.password-refused': { action: 'device.use', result: 'refused', reason: didOf },
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
  'channel.changed': { action: 'channel.change', reason: ({ data }) => data.changes.join('; ') },
  'notification.tested': { action: 'notification.test' },
  'notification.sent-again': {
    action: 'notification.send-again',
    target: ({ data }) => `${data.channel}: ${data.title}`,
  },
  'settings.changed': { action: 'settings.change', reason: ({ data }) => data.words.join('; ') },
  'settings.restored': { action: 'settings.change', reason: ({ data }) => data.words.join('; ') },
  'backup.made': { none: 'not a decision; the log has it' },
  'backup.failed': { none: 'a state, not a decision; activity has it' },
  'certificate.expiring': { none: 'a state, not a decision; activity has it' },
  'certificate.renewed': { action: 'certificate.renew' },
  'certificate.replaced': { none: 'the operator replaced files, outside the hub' },
}

function didOf({ data }: Fact<'device.used' | 'device.file-saved' | 'device.password-refused'>): string {
  return data.did
}

/** `fire sprinkler of abcdefghijkl` */
function commandInWords({ data, gatewayId }: Fact<'command.given' | 'command.ended'>): string {
  const { action, deterrent, learning, names, snooze } = data
  if (snooze) {
    const about = snooze.camera === undefined ? '' : `camera ${snooze.camera} of `
    return `${snooze.kind === 'snooze' ? action : action.replace('snooze', 'maintenance')} ${about}${gatewayId}`
  }
  if (names) return `${action} ${'number' in names ? `version ${names.number}` : `of ${names.gateway}`} at ${gatewayId}`
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
