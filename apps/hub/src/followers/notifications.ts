/**
 * Notifications: the facts that people are notified of outside the hub, and their texts. The message enters the outbox
 * in the fact's transaction; the outbox is processed after the commit.
 */
import type { Fact, FactKind, Language, RegistrationHold } from '@hedgerow/contract'
import type { Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { CommitFollower, TransactionFollower } from '../facts/facts.ts'
import type { Announcement, Notifications } from '../notifications/notifications.ts'

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
      ...ASKED[language](data, sourceIp),
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

const GUESSED: Readonly<Record<Language, (username: string, sourceIp: string) => { title: string; text: string }>> = {
  en: (username, sourceIp) => ({
    title: 'Somebody with your password could not give the code',
    text: [
      `Somebody signed in to the hub as ${username} with the right password and gave wrong two-factor codes,`,
      `the last time from ${sourceIp}. If this was not you, change your password. Sign-ins from networks that you`,
      'have used before, and recovery codes, work as before.',
    ].join('\n'),
  }),
  de: (username, sourceIp) => ({
    title: 'Jemand kennt Ihr Passwort, aber nicht den Code',
    text: [
      `Jemand hat sich am Hub als ${username} mit dem richtigen Passwort angemeldet und falsche Codes für den zweiten`,
      `Faktor eingegeben, zuletzt von ${sourceIp}. Falls Sie das nicht waren, ändern Sie Ihr Passwort. Anmeldungen aus`,
      'Netzen, die Sie schon verwendet haben, und Wiederherstellungscodes funktionieren weiterhin.',
    ].join('\n'),
  }),
}

type Words = { title: string; text: string }

const ASKED: Readonly<Record<Language, (device: Fact<'registration.pending'>['data'], sourceIp: string) => Words>> = {
  en: ({ deviceName, deviceLocation, macAddress, deviceVersion, fingerprint, keyChangeFor }, sourceIp) => ({
    title:
      keyChangeFor === null
        ? `New gateway "${deviceName}" waits for approval, from ${sourceIp}`
        : `Gateway "${keyChangeFor.name}" asks to change its keys, from ${sourceIp}`,
    text: [
      `Device: ${deviceName}`,
      `Location: ${deviceLocation || 'Not specified'}`,
      `From: ${sourceIp}`,
      `MAC address: ${macAddress || 'N/A'}`,
      `Version: ${deviceVersion}`,
      `Fingerprint: ${fingerprint}`,
      'Compare the fingerprint with what the device shows, then approve or reject it under Pending Gateway ' +
        'Registrations:',
    ].join('\n'),
  }),
  de: ({ deviceName, deviceLocation, macAddress, deviceVersion, fingerprint, keyChangeFor }, sourceIp) => ({
    title:
      keyChangeFor === null
        ? `Neues Gateway „${deviceName}“ wartet auf Freigabe, von ${sourceIp}`
        : `Gateway „${keyChangeFor.name}“ bittet um neue Schlüssel, von ${sourceIp}`,
    text: [
      `Gerät: ${deviceName}`,
      `Ort: ${deviceLocation || 'nicht angegeben'}`,
      `Von: ${sourceIp}`,
      `MAC-Adresse: ${macAddress || 'keine'}`,
      `Version: ${deviceVersion}`,
      `Fingerabdruck: ${fingerprint}`,
      'Vergleichen Sie den Fingerabdruck mit dem, den das Gerät zeigt, und geben Sie es unter Approvals frei ' +
        'oder lehnen es ab:',
    ].join('\n'),
  }),
}

type Held = { deviceName: string; waitsFor: RegistrationHold; reason: string; sourceIp: string }

const HELD: Readonly<Record<Language, (held: Held) => Words>> = {
  en: ({ deviceName, waitsFor, reason, sourceIp }) => ({
    title: `Devices that may join have to wait: ${reason}`,
    text: [
      reason,
      `The first of them is "${deviceName}", from ${sourceIp}. All others that wait are under Approvals.`,
      WHAT_TO_DO[waitsFor],
    ].join('\n'),
  }),
  // The reason is a sentence of the log.
  de: ({ deviceName, waitsFor, sourceIp }) => ({
    title: `Geräte, die beitreten dürfen, müssen warten: ${GERMAN_HOLDS[waitsFor].reason}`,
    text: [
      GERMAN_HOLDS[waitsFor].reason,
      `Das erste ist „${deviceName}“, von ${sourceIp}. Alle anderen stehen unter Approvals.`,
      GERMAN_HOLDS[waitsFor].whatToDo,
    ].join('\n'),
  }),
}

const WHAT_TO_DO: Readonly<Record<RegistrationHold, string>> = {
  gateway_limit_reached: 'Raise the maximum number of gateways under Settings, or delete a gateway: they join then.',
  address_pool_exhausted: 'Set a larger VPN network under Settings, or delete a gateway: they join then.',
  device_token_taken: 'Delete the gateway that has the same device token, or reject this request.',
  vpn_disabled: 'Switch the VPN on under Settings: they join then.',
}

const GERMAN_HOLDS: Readonly<Record<RegistrationHold, { reason: string; whatToDo: string }>> = {
  gateway_limit_reached: {
    reason: 'Der Hub ist voll.',
    whatToDo: 'Erhöhen Sie unter Settings die Höchstzahl der Gateways, oder löschen Sie eines: Dann treten sie bei.',
  },
  address_pool_exhausted: {
    reason: 'Im Netz der Gateways ist keine Adresse frei.',
    whatToDo: 'Stellen Sie unter Settings ein größeres Netz ein, oder löschen Sie ein Gateway: Dann treten sie bei.',
  },
  device_token_taken: {
    reason: 'Ein anderes Gateway hat dasselbe Token.',
    whatToDo: 'Löschen Sie das Gateway mit demselben Token, oder lehnen Sie die Anfrage ab.',
  },
  vpn_disabled: {
    reason: 'Das VPN des Hubs läuft nicht.',
    whatToDo: 'Schalten Sie das VPN unter Settings ein: Dann treten sie bei.',
  },
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
    stage: 'tell',
    afterCommit: wake,
  }
}

function announcementOf<K extends FactKind>(fact: Fact<K>, language: Language): Announcement {
  return (announcements[fact.kind as K] as Announce<K>)(fact, language)
}
