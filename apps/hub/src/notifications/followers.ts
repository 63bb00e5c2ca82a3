/**
 * Notifications: the facts that people are notified of outside the hub, and their texts. The message enters the outbox
 * in the fact's transaction; the outbox is processed after the commit.
 */
import type { Fact, FactKind, Language } from '@hedgerow/contract'
import type { Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { CommitFollower, TransactionFollower } from '../facts/facts.ts'
import type { Announcement, Notifications } from './notifications.ts'
import { GUESSED, HELD, PENDING } from './notification-words.ts'

const DAY_MS = 86_400_000

/** `language` is that of the person whom the fact is about, else the hub's. */
type Announce<K extends FactKind> = (fact: Fact<K>, language: Language) => Announcement

const announcements: { readonly [K in FactKind]?: Announce<K> } = {
  'registration.pending': ({ at, actor, target = '', data }, language) => {
    const { deviceName, deviceLocation, deviceVersion, macAddress, fingerprint, keyChangeFor } = data
    const sourceIp = actor.sourceIp ?? ''
    return {
      // A device whose request expired or was lifted asks again, and that is a new notification.
      key: `registration.pending ${target} ${Math.floor(at)}`,
      kind: 'registration.pending',
      ...PENDING[language](data, sourceIp),
      language,
      path: '/gateway-approvals',
      data: {
        registrationId: target,
        deviceName,
        deviceLocation,
        sourceIp,
        macAddress,
        deviceVersion,
        fingerprint,
        keyChangeFor: keyChangeFor?.id ?? null,
      },
    }
  },

  'two-factor.guessed': ({ at, actor, target = '', data: { username, email } }, language) => {
    const sourceIp = actor.sourceIp ?? null
    return {
      key: `two-factor.guessed.${target}.${at}`,
      kind: 'two-factor.guessed',
      ...GUESSED[language](username, sourceIp ?? ''),
      language,
      data: { username, sourceIp },
      to: email,
    }
  },

  // One message a day for all requests that wait for the same reason.
  'registration.held': ({ at, actor, target = '', data: { deviceName, waitsFor, reason } }, language) => ({
    key: `registration.held ${waitsFor === 'device_token_taken' ? target : reason} ${Math.floor(at / DAY_MS)}`,
    kind: 'registration.held',
    ...HELD[language]({ deviceName, waitsFor, reason, sourceIp: actor.sourceIp ?? '' }),
    language,
    path: '/gateway-approvals',
    data: { registrationId: target, deviceName, waitsFor, reason },
  }),
}

const kinds = Object.keys(announcements) as FactKind[]

/** `languageOf` is that of a person's messages. */
export function outbox(
  { announce }: Pick<Notifications, 'announce'>,
  languageOf: (transaction: Transaction<Tables>, userId: string) => Promise<Language>,
): TransactionFollower {
  return {
    name: 'notifications',
    kinds,
    async inTransaction(transaction, facts) {
      for (const fact of facts) {
        const language = await languageOf(transaction, fact.target ?? '')
        await announce(transaction, announcementOf(fact, language))
      }
    },
  }
}

/** Facts whose verbs put messages into the outbox themselves, because what is told depends on more than the fact. */
const ANNOUNCED_BY_VERBS = ['alert.raised', 'alert.escalated', 'alert.cleared', 'notification.sent-again'] as const

export function delivery({ wake }: Pick<Notifications, 'wake'>): CommitFollower {
  return {
    name: 'notification-delivery',
    kinds: [...kinds, ...ANNOUNCED_BY_VERBS],
    stage: 'notify',
    afterCommit: wake,
  }
}

function announcementOf<K extends FactKind>(fact: Fact<K>, language: Language): Announcement {
  return (announcements[fact.kind as K] as Announce<K>)(fact, language)
}
