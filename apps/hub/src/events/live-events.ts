/** Live events: names the topics that open pages refetch after a fact, so that no list goes stale. */
import type { EventTopic, Fact, FactKind } from '@hedgerow/contract'
import type { Change, Events } from './events.ts'
import type { CommitFollower } from '../facts/facts.ts'

const FLEET = ['gateways', 'stats', 'activity'] as const
const QUEUE = ['registrations', 'activity'] as const
const USERS = ['users', 'stats', 'gateways', 'activity'] as const

type Topics = readonly EventTopic[]

/** Audience: everybody whose role gets the topic, or only managers and the gateway's owner. */
const toAll = (...topics: Topics) => ({ topics, ofGateway: false })
const toOwner = (...topics: Topics) => ({ topics, ofGateway: true })

export const liveTopics: Readonly<Record<FactKind, { topics: Topics; ofGateway: boolean }>> = {
  'session.started': toAll(),
  'session.refused': toAll(),
  'session.ended': toAll(),
  'call.refused': toAll(),
  'identity.refused': toAll(),

  'profile.updated': toAll('users', 'gateways'),
  'two-factor.set-up': toAll(),
  'two-factor.guessed': toAll(),
  'two-factor.enabled': toAll('users'),
  'two-factor.disabled': toAll('users'),
  'recovery-codes.renewed': toAll(),
  'recovery-code.used': toAll(),

  'provider.linked': toAll(),
  'provider.unlinked': toAll(),
  'token.created': toAll(),
  'token.revoked': toAll(),

  'push.subscribed': toAll(),
  'push.unsubscribed': toAll(),

  'password-reset.sent': toAll(),
  'user.registered': toAll('users', 'stats', 'invitations', 'activity'),
  'user.registration-refused': toAll(),
  'user.created': toAll('users', 'stats', 'activity'),
  'user.updated': toAll(...USERS),
  'user.role-changed': toAll('users'),
  'user.activated': toAll('users'),
  'user.deactivated': toAll('users'),
  'user.password-changed': toAll(),
  'user.password-reset': toAll('activity'),
  'user.two-factor-reset': toAll('users', 'activity'),
  'user.local-sign-in-allowed': toAll(),
  'user.deleted': toAll(...USERS),
  'user-invitation.created': toAll('invitations', 'activity'),
  'user-invitation.revoked': toAll('invitations', 'activity'),

  'registration.requested': toAll('registrations'),
  'registration.pending': toAll(...QUEUE),
  'registration.held': toAll(...QUEUE),
  'registration.rejected': toAll(...QUEUE),
  'registration.source-rejected': toAll(...QUEUE),
  'registration.lifted': toAll(...QUEUE),
  'registration.claimed': toAll('registrations'),
  'auto-approval.changed': toAll('settings', ...QUEUE),
  'gateway-invitation.created': toAll('invitations', 'activity'),
  'gateway-labels.created': toAll('invitations', 'activity'),
  'gateway-invitation.revoked': toAll('invitations', 'activity'),

  'gateway.approved': toAll('registrations', 'invitations', ...FLEET),
  'gateway.rekeyed': toAll('registrations', ...FLEET),
  'gateway.added': toAll(...FLEET),
  'gateway.edited': toOwner(...FLEET),
  'gateway.renamed': toOwner(...FLEET),
  'gateway.site-changed': toOwner(...FLEET, 'threats'),
  'site.added': toAll('gateways', 'activity'),
  'site.edited': toAll('gateways', 'threats', 'activity'),
  'site.renamed': toAll('settings', 'gateways', 'threats', 'activity'),
  'site.deleted': toAll('gateways', 'threats', 'activity'),
  'site.orphaned': toAll('activity'),
  'gateway.tagged': toOwner('gateways'),
  // The owner of a deleted gateway can no longer be looked up.
  'gateway.deleted': toAll(...FLEET),
  'gateway.claimed': toAll(...FLEET),
  'gateway.claim-refused': toAll(),
  'gateway.vpn-config-read': toAll(),
  'gateway.status-changed': toOwner(...FLEET),

  'detection.reported': toOwner(...FLEET, 'threats'),
  'incidents.exported': toAll(),
  'incident.reviewed': toOwner('threats', 'gateways'),
  'incident.review-undone': toOwner('threats', 'gateways'),

  'update.asked': toOwner('gateways'),
  'update.ended': toOwner('gateways', 'activity'),
  'update.withdrawn': toOwner('gateways'),
  'rollout.started': toAll('gateways', 'activity'),
  'rollout.stopped': toAll('gateways', 'activity', 'stats'),
  'rollout.stopped-by-hand': toAll('gateways', 'activity', 'stats'),
  'rollout.resumed': toAll('gateways', 'activity', 'stats'),
  'rollout.held': toAll('gateways', 'activity', 'stats'),
  'update.skipped': toAll('gateways', 'activity', 'stats'),
  'site-updates.changed': toAll('gateways'),
  'command.given': toOwner('deterrents'),
  'command.ended': toOwner('deterrents', 'activity'),
  'deterrent.fired': toOwner('deterrents', 'stats', 'activity'),
  'deterrent.failed': toOwner('deterrents', 'activity'),
  'gateway.armed': toOwner('deterrents', 'activity'),
  'gateway.disarmed': toOwner('deterrents', 'activity'),
  'gateway.snoozed': toOwner('deterrents', 'activity'),
  'gateway.snooze-ended': toOwner('deterrents', 'activity'),
  'gateway.opened': toOwner('gateways'),
  'device.used': toOwner(),
  'device.file-saved': toOwner('activity'),
  'device.password-refused': toOwner('activity'),
  'ledger.written': toOwner('deterrents'),

  'storage.low': toAll('stats', 'activity'),
  'backup.made': toAll('stats'),
  'backup.failed': toAll('stats', 'activity'),
  'channel.changed': toAll('settings'),
  'notification.tested': toAll('alerts'),
  'notification.sent-again': toAll('settings'),
  'alert.raised': toOwner('alerts', 'settings'),
  'alert.cleared': toOwner('alerts'),
  'alert.escalated': toOwner('alerts', 'activity'),
  'alert.acknowledged': toOwner('alerts', 'activity'),
  'alert-rule.saved': toAll('settings', 'stats'),
  'alert-rule.deleted': toAll('settings', 'stats'),
  'settings.changed': toAll('settings', 'stats', ...QUEUE),
  'settings.restored': toAll('settings', 'activity'),
  'certificate.expiring': toAll('activity'),
  'certificate.renewed': toAll('certificates', 'activity'),
  'certificate.replaced': toAll('certificates'),
}

export function liveEvents(events: Pick<Events, 'publish'>): CommitFollower {
  return {
    name: 'live-events',
    kinds: (Object.keys(liveTopics) as FactKind[]).filter((kind) => liveTopics[kind].topics.length > 0),
    stage: 'notify',
    afterCommit: (facts) => events.publish(...facts.flatMap(changesOf)),
  }
}

function changesOf({ kind, gatewayId }: Fact): Change[] {
  const { topics, ofGateway } = liveTopics[kind]
  return topics.map((topic) => ({ topic, gatewayId: ofGateway ? gatewayId : undefined }))
}
