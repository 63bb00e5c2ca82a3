/** An audit entry as a sentence. Pure. */
import type { AuditEntry } from '@hedgerow/contract'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'

/** The kind of an action's target: decides whether it has a page and a name. */
type TargetKind = 'gateway' | 'user' | 'command' | 'channel' | 'text' | 'none'
type Words = { done: string; refused?: string; target: TargetKind }

const own = (done: string, refused?: string): Words => ({
  done,
  target: 'none',
  ...(refused !== undefined && { refused }),
})

/** The words after the actor; the target follows them. */
const SENTENCES: Readonly<Record<string, Words>> = {
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
  'push.subscribe': own('switched push messages on in a browser'),
  'push.unsubscribe': own('removed a browser with push messages'),
  'user.register': own('registered', 'could not register: the invite code is wrong'),
  'user.create': { done: 'added the user', target: 'user' },
  'user.update': { done: 'edited the user', target: 'user' },
  'user.change-role': { done: 'changed the role of', target: 'user' },
  'user.activate': { done: 'activated the user', target: 'user' },
  'user.deactivate': { done: 'deactivated the user', target: 'user' },
  'user.change-password': own('changed their password'),
  'user.reset-password': { done: 'reset the password of', target: 'user' },
  'user.reset-two-factor': { done: 'reset two-factor of', target: 'user' },
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
  'gateway-invitation.revoke': { done: 'revoked the gateway invitation', target: 'text' },
  'gateway.add': { done: 'added the gateway', target: 'gateway' },
  'gateway.edit': { done: 'edited the gateway', target: 'gateway' },
  'gateway.tag': { done: 'changed the tags of the gateway', target: 'gateway' },
  'gateway.delete': { done: 'deleted the gateway', target: 'gateway' },
  'gateway.claim': { done: 'claimed the gateway', refused: 'could not claim a gateway', target: 'gateway' },
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
  'notification.test': { done: 'asked for a test message over', target: 'channel' },
  'notification.send-again': { done: 'sent again over', target: 'text' },
  'settings.change': { done: 'changed the settings', target: 'text' },
  'certificate.renew': { done: 'renewed the certificate', target: 'text' },
}

export type Named = { text: string; path?: string }
/** `ending` follows the target: why it was refused, or how it was done. */
export type Sentence = { actor: Named; words: string; target: Named | undefined; ending: string }

export type Names = {
  gateways: readonly { id: string; name: string }[]
  users: readonly { id: string; username: string }[]
}

/** The parts of an entry's sentence. An unknown action, from a newer hub, is shown as its code. */
export function sentenceOf({ actor, action, target, subject, result, reason }: AuditEntry, names: Names): Sentence {
  const known = Object.hasOwn(SENTENCES, action) ? SENTENCES[action] : undefined
  const words =
    known === undefined ? action : result === 'refused' ? (known.refused ?? `could not: ${known.done}`) : known.done
  const kind = known?.target ?? 'text'
  // The last word of a command is its gateway.
  const command = kind === 'command' ? /^(.+) (\S+)$/.exec(target ?? '') : null
  const ending = reason === null ? '' : `${result === 'ok' ? ', ' : ': '}${reason}`
  const about = { actor: actorOf(actor, names), ending }
  if (command) return { ...about, words: `${words} ${command[1]}`, target: targetOf(command[2]!, 'gateway', names) }
  return { ...about, words, target: subject === null ? targetOf(target, kind, names) : namedBy(subject) }
}

function namedBy({ name, path }: NonNullable<AuditEntry['subject']>): Named {
  return path === null ? { text: name } : { text: name, path }
}

function actorOf(actor: string, { users }: Names): Named {
  if (actor === 'hub') return { text: 'The hub' }
  if (actor === 'gateway') return { text: 'A device' }
  return users.some(({ username }) => username === actor) ? { text: actor, path: pathOfUser(actor) } : { text: actor }
}

function targetOf(target: string | null, kind: TargetKind, { gateways, users }: Names): Named | undefined {
  if (target === null || kind === 'none') return undefined
  if (kind === 'gateway') {
    const gateway = gateways.find(({ id }) => id === target)
    return gateway === undefined ? { text: target } : { text: gateway.name, path: `/gateways/${gateway.id}` }
  }
  if (kind === 'user') {
    const user = users.find(({ id }) => id === target)
    return user === undefined ? { text: target } : { text: user.username, path: pathOfUser(user.username) }
  }
  return { text: kind === 'channel' ? (CHANNEL_NAMES[target] ?? target) : target }
}

const pathOfUser = (username: string) => `/users?q=${encodeURIComponent(username)}`
