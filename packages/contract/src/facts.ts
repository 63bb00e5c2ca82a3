/**
 * Facts: events in the past tense, as `noun.verb`. A verb of the hub records one in its transaction; audit, activity,
 * notifications, caches, live events and the tunnel's peers follow from it. Types only: facts never leave the hub's own
 * database. `data` holds what followers need and never a password, a token or a key that is secret.
 */
import type { Role } from './accounts.ts'
import type { Certificate } from './certificates.ts'
import type { Command } from './commands.ts'
import type { Detection } from './detections.ts'
import type { RegistrationHold } from './enrolment.ts'
import type { Gateway } from './gateways.ts'
import type { HubSettings } from './settings.ts'
import type { ReviewVerdict } from './threats.ts'

/** No data besides actor, time and target. */
type Nothing = Record<string, never>
/** The name in a gateway's request to join. */
type Device = { deviceName: string }
type GivenCommand = Pick<Command, 'action' | 'deterrent' | 'seconds'> &
  Partial<Pick<Command, 'learning' | 'names' | 'snooze'>> & { gatewayName: string }
/** `rules` are names of alert rules, `views` a number of saved views. */
type AboutAlert = { title: string; ruleName: string }
type Ledgered = { gatewayName: string; by: string }
/** `detectionId` is the gateway's id of the detection that a rule fired at; null for people and programs. */
type Switched = Ledgered & { deterrent: string; detectionId: string | null }

/** The data of each kind. */
export type FactData = {
  /** `provider` is the name of the sign-in provider. */
  'session.started': { provider?: string }
  'session.refused': Nothing
  'session.ended': { sessionId: string }
  /** A call that the person's role does not allow; the target is the call. */
  'call.refused': Nothing
  /** A signed-in person gave a wrong password or code when asked for it again. */
  'identity.refused': Nothing

  'profile.updated': Nothing
  'two-factor.set-up': Nothing
  /** Wrong codes after the right password: the hub warns the account's owner. */
  'two-factor.guessed': { username: string; email: string }
  'two-factor.enabled': Nothing
  'two-factor.disabled': Nothing
  'recovery-codes.renewed': Nothing
  'recovery-code.used': Nothing

  /** An account at a sign-in provider. */
  'provider.linked': { provider: string }
  'provider.unlinked': { provider: string }
  'token.created': { name: string; role: Role; access: 'read' | 'all' }
  'token.revoked': { name: string }

  /** The target is the subscription. */
  'push.subscribed': Nothing
  'push.unsubscribed': Nothing

  /** A link that sets a new password went to the actor, who need not be who asked for it. */
  'password-reset.sent': Nothing
  'user.registered': { username: string; role: Role }
  /** The invitation code was wrong; the actor is the requested username. */
  'user.registration-refused': Nothing
  'user.created': { username: string; role: Role }
  /** `changes` are the changes of the user's rights in words, such as `made admin`. */
  'user.updated': { username: string; changes: string[] }
  'user.role-changed': Nothing
  'user.activated': Nothing
  'user.deactivated': Nothing
  'user.password-changed': Nothing
  'user.password-reset': { username: string; byMail?: true }
  'user.two-factor-reset': { username: string }
  'user.deleted': { username: string }
  /** By the command line, while this hub accepts no passwords. */
  'user.local-sign-in-allowed': { username: string }
  'user-invitation.created': { label: string; role: Role; email?: string | undefined }
  'user-invitation.revoked': { label: string; role: Role }

  /** A device asks to join; it had no waiting request. */
  'registration.requested': Device
  /** No rule approved it, so a person decides. `keyChangeFor` is the gateway whose keys it would change. */
  'registration.pending': Device & {
    deviceLocation: string
    deviceVersion: string
    macAddress: string
    fingerprint: string
    keyChangeFor: { id: string; name: string } | null
  }
  /** The rules approve it but the hub cannot; `reason` is a sentence. It is approved when the reason ends. */
  'registration.held': Device & { waitsFor: RegistrationHold; reason: string }
  'registration.rejected': Device
  /** All waiting requests of one network; the target is that network. */
  'registration.source-rejected': { registrationIds: string[] }
  'registration.lifted': Device
  /** Claimed before its approval. */
  'registration.claimed': Nothing
  'auto-approval.changed': Nothing
  'gateway-invitation.created': { label: string }
  'gateway-invitation.revoked': { label: string }
  /** A sheet of labels, each with an invitation for one gateway. The target is their number. */
  'gateway-labels.created': { count: number }

  /** The target is the registration; `rule` names the rule that approved it, null for a person's approval. */
  'gateway.approved': { name: string; address: string; rule: string | null }
  /** New keys of a known gateway were approved; `replacedPublicKey` is no longer valid. */
  'gateway.rekeyed': { name: string; replacedPublicKey: string | null }
  'gateway.added': { name: string }
  'gateway.edited': { name: string }
  'gateway.renamed': { name: string; before: string }
  /** `site` is the name of the site that it is in now; empty for none. */
  'gateway.site-changed': { name: string; site: string }
  /** The target is the site's name. */
  'site.added': Nothing
  'site.edited': Nothing
  'site.renamed': { before: string }
  'site.deleted': Nothing
  /** The last gateway left a site that these name. */
  'site.orphaned': { rules: string[]; hasUpdates: boolean; views: number }
  'gateway.tagged': { name: string; added: string[]; removed: string[] }
  'gateway.deleted': { name: string; publicKey: string }
  'gateway.claimed': { name: string }
  /** Names no gateway, because the token may belong to another one. */
  'gateway.claim-refused': Nothing
  'gateway.vpn-config-read': Nothing
  'gateway.status-changed': {
    name: string
    status: Gateway['status']
    reason: string
  }

  /**
   * Part of a gateway's batch: at most 50 detections in each fact. `alerts` are the detections that became alerts with
   * it.
   */
  'detection.reported': {
    count: number
    gatewayName: string
    alerts: { id: string; camera: string; label: Detection['label']; startedAt: number }[]
    /** Incidents that the batch began or changed. `startedAt` is milliseconds since 1970. */
    incidents: {
      id: string
      label: string
      severity: Detection['severity']
      camera: string
      coverId: string | null
      startedAt: number
      isValidated: boolean
    }[]
  }

  /** The target is the incident. A null `verdict` withdraws the review. */
  'incident.reviewed': { verdict: ReviewVerdict | null; label: string | null; gatewayName: string }

  /** The target is the incident, which has this review of before again. */
  'incident.review-undone': { verdict: ReviewVerdict | null; label: string | null; gatewayName: string }

  /** A person exported detections and pictures; `filter` is the selection, as JSON. */
  'incidents.exported': { filter: string }

  /** A person's command to a gateway, before it is sent. `deterrent` is null for all deterrents. */
  'command.given': GivenCommand
  'command.ended': GivenCommand & Pick<Command, 'state' | 'code' | 'message'>
  /** The actor is the hub for automatic updates. */
  'update.asked': { gatewayName: string; version: string }
  'update.ended': { gatewayName: string; version: string; state: 'done' | 'failed'; message: string }
  /** Automatic updates stopped before the gateway ran the release. */
  'update.withdrawn': Nothing
  /** Automatic updates to a release; the target is its version. */
  'rollout.started': { version: string }
  'rollout.stopped': { version: string; message: string }
  'rollout.stopped-by-hand': { version: string }
  'rollout.resumed': { version: string }
  /** The other gateways wait for this one, which is silent or has not begun. */
  'rollout.held': { version: string; message: string }
  /** A person had the other gateways updated without waiting for this one. */
  'update.skipped': { gatewayName: string; version: string }
  /** The target is the site's name. Null: the hub's setting. */
  'site-updates.changed': { automatic: boolean | null; hours: string | null }
  /** An entry of a gateway's ledger; `by` names the person, rule or program in words. */
  'deterrent.fired': Switched & { seconds: number | null }
  /** It could not be switched on, or off. */
  'deterrent.failed': Switched & { message: string }
  'gateway.armed': Ledgered
  'gateway.disarmed': Ledgered
  /** A snooze or maintenance begins or ends; `did` is in words. */
  'gateway.snoozed': Ledgered & { did: string }
  'gateway.snooze-ended': Ledgered & { did: string }
  /** A person opened the gateway's pages through the hub; `application` is null for its own interface. */
  'gateway.opened': { gatewayName: string; application: string | null }
  /** What a person did at the device's own interface, as the device tells: `did` is in words, `by` names the person. */
  'device.used': Ledgered & { did: string }
  'device.file-saved': Ledgered & { did: string }
  'device.password-refused': Ledgered & { did: string }
  /** New entries of a gateway's ledger, of any kind. */
  'ledger.written': { entries: number }

  /** The disk, or the database, has no more room for data of gateways. */
  /** `unwritable`: the database refuses to write; `folder`: only the data folder does. */
  'storage.low': { state: 'low' | 'full' | 'unwritable' | 'folder'; message: string }
  /** A backup of the schedule. */
  'backup.made': Nothing
  /** `message` is a sentence with the reason and the age of the newest one. Recorded every day. */
  'backup.failed': { message: string }
  /** The target is the channel. `changes` are in words, with no secret and no path of an address. */
  'channel.changed': { changes: string[] }
  'notification.tested': Nothing
  /** A person had a message of the log sent again; the target is the delivery. */
  'notification.sent-again': { channel: string; title: string }
  /** A rule begins a new message. The target is the alert. */
  'alert.raised': AboutAlert
  /** Everything that it is about is over. */
  'alert.cleared': AboutAlert
  /** Nobody acknowledged it, so the next step of its rule is sent; 1 is the first after the message itself. */
  'alert.escalated': AboutAlert & { step: number }
  /** `via` is `portal`, or the channel whose link was used. */
  'alert.acknowledged': AboutAlert & { via: string }
  'alert-rule.saved': { name: string }
  'alert-rule.deleted': { name: string }
  /** `words` says each change with the values before and after. */
  'settings.changed': { changes: Partial<HubSettings>; words: string[] }
  /** The VPN could not start with its new settings, so the hub put these back. */
  'settings.restored': { changes: Partial<HubSettings>; words: string[] }
  /** A certificate expires within 14 days, and the hub cannot renew it. Recorded every day. */
  'certificate.expiring': { id: Certificate['id']; name: string; expiresAt: string }
  'certificate.renewed': { id: Certificate['id'] }
  /** The operator replaced the files of the certificate in use. */
  'certificate.replaced': { id: Certificate['id'] }
}

export type FactKind = keyof FactData

export type FactActor = {
  /** The username at that time, or `hub` or `gateway`. */
  name: string
  userId?: string | undefined
  sourceIp?: string | undefined
}

/** A fact of one of these kinds. */
export type Fact<K extends FactKind = FactKind> = {
  [P in K]: {
    kind: P
    /** Milliseconds since 1970, by the hub's clock. */
    at: number
    actor: FactActor
    /** The object of the action: an id or a name. */
    target?: string | undefined
    gatewayId?: string | undefined
    siteId?: string | undefined
    data: FactData[P]
  }
}[K]
