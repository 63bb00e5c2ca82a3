/** What the command palette finds: screens, actions, settings, gateways, their tags, and users. Pure. */
import type { Gateway, Role } from '@hedgerow/contract'
import { placeOf } from '#api/places.ts'
import { mayManageFleet } from '#api/roles.ts'
import { countTags } from '#api/tags.ts'
import { screens } from '#parts/screens.ts'

/** An action that has no address. */
export type Command = 'light' | 'dark' | 'auto' | 'logout'
export type Destination = { name: string; hint: string } & ({ path: string } | { command: Command })

const titled: readonly { path: string; title?: string; words?: string }[] = screens.filter((one) => 'title' in one)

export const SCREENS: readonly Destination[] = titled.map(({ path, title = '' }) => ({
  path,
  name: title,
  hint: 'Screen',
}))

const action = (path: string, name: string): Destination => ({ path, name, hint: 'Action' })
const command = (name: string, handler: Command): Destination => ({ command: handler, name, hint: 'Action' })

function actionsOf(role: Role): Destination[] {
  return [
    ...(mayManageFleet(role)
      ? [
          action('/gateway-approvals', 'Approve or reject gateways'),
          action('/add-gateway', 'Add gateway'),
          action('/gateway-labels', 'Print gateway labels'),
          action('/gateways', 'Edit, tag or delete gateways'),
          action('/sites?do=add', 'Add site'),
          action('/versions', 'Update gateways'),
        ]
      : []),
    action('/gateways?do=claim', 'Claim gateway'),
    action('/threats?review=none', 'Review threats'),
    ...(role === 'admin'
      ? [
          action('/users?do=add', 'Add user'),
          action('/users?do=invite', 'Invite user'),
          action('/alert-rules?do=new', 'New alert rule'),
        ]
      : []),
    action('/profile#password', 'Change password'),
    action('/profile#two-factor', 'Two-factor sign-in'),
    action('/profile#alerts', 'Get alerts on this device'),
    action('/profile#sessions', 'End signed-in sessions'),
    command('Light theme', 'light'),
    command('Dark theme', 'dark'),
    command('System theme', 'auto'),
    command('Logout', 'logout'),
  ]
}

const tab = (name: string, label: string): Destination => ({
  path: `/settings?tab=${name}`,
  name: label,
  hint: 'Settings',
})
const setting = (tabName: string, field: string, name: string): Destination => ({
  path: `/settings?tab=${tabName}#${field}`,
  name,
  hint: 'Setting',
})

const SETTINGS: readonly Destination[] = [
  tab('general', 'General settings'),
  tab('security', 'Security settings'),
  tab('network', 'Network settings'),
  tab('certificates', 'Certificates'),
  tab('audit', 'Audit log'),
  setting('general', 'hubName', 'Hub name'),
  setting('general', 'hubDescription', 'Hub description'),
  setting('general', 'maxGateways', 'Maximum number of gateways'),
  setting('general', 'enableNotifications', 'Notifications'),
  setting('general', 'language', 'Language of messages'),
  setting('general', 'enableAuditLog', 'Audit log'),
  setting('general', 'logRetentionDays', 'Keep records for (days)'),
  setting('general', 'automaticUpdates', 'Automatic updates'),
  setting('general', 'automaticUpdateHours', 'Hours of automatic updates'),
  setting('general', 'detectionsPerHour', 'Detections per gateway and hour'),
  setting('general', 'detectionMegabytesPerHour', 'Megabytes of detections per gateway and hour'),
  setting('general', 'detectionsKept', 'Detections kept per gateway'),
  setting('general', 'detectionMegabytesKept', 'Megabytes of detections kept in total'),
  setting('security', 'passwordComplexity', 'Password complexity'),
  setting('security', 'twoFactorRequired', 'Two-factor authentication'),
  setting('security', 'sessionTimeout', 'Session timeout'),
  setting('security', 'openRegistration', 'Open registration'),
  setting('security', 'inviteCodeRequired', 'Invite code required'),
  setting('network', 'enableVpn', 'VPN'),
  setting('network', 'vpnNetwork', 'VPN network'),
  setting('network', 'directHealthCheck', 'Direct health check'),
  setting('network', 'homeAssistantCommands', 'Commands from Home Assistant'),
]

/** Other words that people type for a destination, by its name, without hyphens. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(titled.map(({ title, words }) => [title, words])),
  'Approve or reject gateways': 'accept registrations pending devices',
  'Add gateway': 'new device enrol register install invite invitation qr code raspberry pi container frigate wireguard',
  'Print gateway labels': 'many sheet csv qr codes invite',
  'Edit, tag or delete gateways': 'rename remove change location',
  'Update gateways': 'upgrade version firmware',
  'Claim gateway': 'device token owner',
  'Review threats': 'right wrong false alarms verdicts incidents detections',
  'Add user': 'new create account person',
  'Invite user': 'invitation account person register code',
  'New alert rule': 'add create alarm notification',
  'Change password': 'new reset',
  'Two-factor sign-in': '2fa 2factor twostep 2step mfa otp totp authenticator authentication recovery codes set up',
  'Get alerts on this device': 'push notifications phone browser quiet hours language',
  'End signed-in sessions': 'sign out everywhere devices',
  'Light theme': 'mode day colours colors',
  'Dark theme': 'mode night colours colors',
  'System theme': 'mode automatic colours colors',
  Logout: 'log out sign out signout',
  Certificates: 'tls ssl https renew authority',
  'Audit log': 'history who did what export csv',
  Notifications: 'messages mail email',
  'Keep records for (days)': 'retention log',
  'Automatic updates': 'upgrades versions',
  'Password complexity': 'strength strong',
  'Two-factor authentication': '2fa 2factor mfa require everyone',
  'Session timeout': 'sign out logout expiry',
  'Open registration': 'sign up signup',
  VPN: 'wireguard tunnel',
  'VPN network': 'wireguard subnet addresses ip',
  'Commands from Home Assistant': 'mqtt',
}

const SHOWN = 10

export type PaletteData = {
  role: Role
  gateways: readonly Pick<Gateway, 'id' | 'name' | 'location' | 'site' | 'tags'>[]
  users: readonly { username: string; firstName: string; lastName: string; email: string }[]
}

/**
 * The best matches of `text`, at most ten: names that begin with it, then names with a word that does, then all that
 * contain its words. Among equals: screens, actions, settings, gateways, tags, users.
 */
export function findDestinations(text: string, { role, gateways, users }: PaletteData): readonly Destination[] {
  const wanted = plain(text.trim())
  if (wanted === '') return SCREENS
  const words = wanted.split(/\s+/)
  const ranked: Destination[][] = [[], [], []]
  const place = (destination: Destination, isAlso: (word: string) => boolean) => {
    const name = plain(destination.name)
    if (!words.every((word) => name.includes(word) || isAlso(word))) return
    const inName = destination.name.toLowerCase().split(/[\s-]+/)
    const rank = name.startsWith(wanted) ? 0 : inName.some((word) => word.startsWith(wanted)) ? 1 : 2
    ranked[rank]?.push(destination)
  }
  for (const destination of [...SCREENS, ...actionsOf(role), ...SETTINGS]) {
    const others = OTHER_WORDS[destination.name]?.split(' ') ?? []
    place(destination, (word) => others.some((other) => other.startsWith(word)))
  }
  for (const gateway of gateways) {
    const { id, name, location, tags } = gateway
    const hint = placeOf(gateway) || 'Gateway'
    const facts = plain([id, location, placeOf(gateway), ...tags].join(' '))
    place({ path: `/gateways/${id}`, name, hint }, (word) => facts.includes(word))
  }
  for (const [tag, count] of countTags(gateways)) {
    const hint = count === 1 ? 'Tag of 1 gateway' : `Tag of ${count.toLocaleString()} gateways`
    place({ path: `/gateways?tag=${encodeURIComponent(tag)}`, name: tag, hint }, () => false)
  }
  for (const { username, firstName, lastName, email } of users) {
    const name = `${firstName} ${lastName}`.trim() || username
    const facts = plain(`${username} ${email}`)
    place({ path: `/users?q=${encodeURIComponent(username)}`, name, hint: 'User' }, (word) => facts.includes(word))
  }
  return ranked.flat().slice(0, SHOWN)
}

/** Two-factor is found by two factor, twofactor and Two-Factor alike. */
const plain = (text: string): string => text.toLowerCase().replaceAll('-', '')
