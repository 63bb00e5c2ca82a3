/** An audit entry as a sentence. Pure. */
import type { AuditEntry } from '@hedgerow/contract'
import { auditWords, type AuditTargetKind, type AuditWords } from '@hedgerow/contract/audit-answers'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'

const WORDS: Readonly<Record<string, AuditWords>> = auditWords

export type Named = { text: string; path?: string }
/** `ending` follows the target: why it was refused, or how it was done. */
export type Sentence = { actor: Named; words: string; target: Named | undefined; ending: string }

export type Names = {
  gateways: readonly { id: string; name: string }[]
  users: readonly { id: string; username: string }[]
}

/** The parts of an entry's sentence. An unknown action, from a newer hub, is shown as its code. */
export function sentenceOf({ actor, action, target, subject, result, reason }: AuditEntry, names: Names): Sentence {
  const entry = Object.hasOwn(auditWords, action) ? WORDS[action] : undefined
  const words =
    entry === undefined ? action : result === 'refused' ? (entry.refused ?? `could not: ${entry.done}`) : entry.done
  const kind = entry?.target ?? 'text'
  // The last word of a command is its gateway.
  const command = kind === 'command' ? /^(.+) (\S+)$/.exec(target ?? '') : null
  const ending = reason === null ? '' : `${result === 'ok' ? ', ' : ': '}${reason}`
  const about = { actor: actorOf(actor, names), ending }
  if (command) return { ...about, words: `${words} ${command[1]}`, target: targetOf(command[2]!, 'gateway', names) }
  // The reason has the changes in words; the target is their keys, all that entries of older hubs have.
  if (kind === 'settings' && reason !== null)
    return { ...about, words: `${words}: ${reason}`, target: undefined, ending: '' }
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

function targetOf(target: string | null, kind: AuditTargetKind, { gateways, users }: Names): Named | undefined {
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
