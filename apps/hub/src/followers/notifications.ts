/**
 * Notifications: the facts that people are notified of outside the hub, and their texts. The message enters the outbox
 * in the fact's transaction; the outbox is processed after the commit.
 */
import type { Fact, FactKind, RegistrationHold } from '@hedgerow/contract'
import type { CommitFollower, TransactionFollower } from '../facts/facts.ts'
import type { Announcement, Notifications } from '../notifications/notifications.ts'

const DAY_MS = 86_400_000

const announcements: { readonly [K in FactKind]?: (fact: Fact<K>) => Announcement | undefined } = {
  'registration.pending': ({ at, actor, target = '', data }) => {
    const { deviceName, deviceLocation, deviceVersion, macAddress, fingerprint, keyChangeFor } = data
    const sourceIp = actor.sourceIp ?? ''
    return {
      // A device whose request expired or was lifted asks again, and that is a new notification.
      key: `registration.pending ${target} ${Math.floor(at)}`,
      kind: 'registration.pending',
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
        'Compare the fingerprint with what the device shows, then approve or reject it under Pending Gateway Registrations:',
      ].join('\n'),
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

  'two-factor.guessed': ({ at, actor, target = '', data: { username, email } }) => ({
    key: `two-factor.guessed.${target}.${at}`,
    kind: 'two-factor.guessed',
    title: 'Somebody with your password could not give the code',
    text: [
      `Somebody signed in to the hub as ${username} with the right password and gave wrong two-factor codes,`,
      `the last time from ${actor.sourceIp}. If this was not you, change your password. Sign-ins from networks that you`,
      'have used before, and recovery codes, work as before.',
    ].join('\n'),
    data: { username, sourceIp: actor.sourceIp ?? null },
    to: email,
  }),

  // One message a day for all requests that wait for the same reason.
  'registration.held': ({ at, actor, target = '', data: { deviceName, waitsFor, reason } }) => ({
    key: `registration.held ${waitsFor === 'device_token_taken' ? target : reason} ${Math.floor(at / DAY_MS)}`,
    kind: 'registration.held',
    title: `Devices that may join have to wait: ${reason}`,
    text: [
      reason,
      `The first of them is "${deviceName}", from ${actor.sourceIp ?? ''}. All others that wait are under Approvals.`,
      whatToDo[waitsFor],
    ].join('\n'),
    path: '/gateway-approvals',
    data: { registrationId: target, deviceName, waitsFor, reason },
  }),
}

const whatToDo: Record<RegistrationHold, string> = {
  gateway_limit_reached: 'Raise the maximum number of gateways under Settings, or delete a gateway: they join then.',
  address_pool_exhausted: 'Set a larger VPN network under Settings, or delete a gateway: they join then.',
  device_token_taken: 'Delete the gateway that has the same device token, or reject this request.',
  vpn_disabled: 'Switch the VPN on under Settings: they join then.',
}

const kinds = Object.keys(announcements) as FactKind[]

export function outbox({ announce }: Pick<Notifications, 'announce'>): TransactionFollower {
  return {
    name: 'notifications',
    kinds,
    async inTransaction(transaction, facts) {
      for (const fact of facts) {
        const announcement = announcementOf(fact)
        if (announcement) await announce(transaction, announcement)
      }
    },
  }
}

export function delivery({ wake }: Pick<Notifications, 'wake'>): CommitFollower {
  return { name: 'notification-delivery', kinds, stage: 'tell', afterCommit: wake }
}

export function announcementOf<K extends FactKind>(fact: Fact<K>): Announcement | undefined {
  return (announcements[fact.kind as K] as (fact: Fact<K>) => Announcement | undefined)(fact)
}
