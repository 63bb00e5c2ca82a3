/** What the command palette finds: screens, actions, settings, gateways, their tags, and users. Pure. */
import type { Role } from '@hedgerow/contract'
import { mayManageFleet } from '#api/roles.ts'
import { countTags } from '#api/tags.ts'

/** An action that has no address. */
export type Command = 'light' | 'dark' | 'auto' | 'logout'
export type Destination = { name: string; hint: string } & ({ path: string } | { command: Command })

const screen = (path: string, name: string): Destination => ({ path, name, hint: 'Screen' })

export const SCREENS: readonly Destination[] = [
  screen('/dashboard', 'Dashboard'),
  screen('/threats', 'Threats'),
  screen('/cameras', 'Cameras'),
  screen('/alert-rules', 'Alert rules'),
  screen('/gateways', 'Gateways'),
  screen('/versions', 'Versions'),
  screen('/gateway-approvals', 'Approvals'),
  screen('/gateway-invitations', 'Gateway invitations'),
  screen('/auto-approval-settings', 'Auto-approval settings'),
  screen('/users', 'Users'),
  screen('/settings', 'Settings'),
  screen('/profile', 'Profile'),
  screen('/help', 'Help'),
]

const action = (path: string, name: string): Destination => ({ path, name, hint: 'Action' })
const command = (name: string, known: Command): Destination => ({ command: known, name, hint: 'Action' })

function actionsOf(role: Role): Destination[] {
  return [
    ...(mayManageFleet(role)
      ? [action('/gateways?do=add', 'Add gateway'), action('/gateway-invitations?do=new', 'New gateway invitation')]
      : []),
    action('/gateways?do=claim', 'Claim gateway'),
    ...(role === 'admin' ? [action('/users?do=add', 'Add user'), action('/users?do=invite', 'Invite user')] : []),
    action('/profile', 'Change password'),
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

/** Other words that people type for a destination, by its name. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  Threats: 'incidents detections',
  Profile: '2fa two-factor',
  Logout: 'log out sign out',
  'Keep records for (days)': 'retention',
  'Two-factor authentication': '2fa',
  'Commands from Home Assistant': 'mqtt',
}

const SHOWN = 10

export type Known = {
  role: Role
  gateways: readonly { id: string; name: string; location: string; tags: readonly string[] }[]
  users: readonly { username: string; firstName: string; lastName: string; email: string }[]
}

/**
 * The best matches of `text`, at most ten: names that begin with it, then names with a word that does, then all that
 * contain its words. Among equals: screens, actions, settings, gateways, tags, users.
 */
export function findDestinations(text: string, { role, gateways, users }: Known): readonly Destination[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return SCREENS
  const words = wanted.split(/\s+/)
  const ranked: Destination[][] = [[], [], []]
  const place = (destination: Destination, extra: string) => {
    const name = destination.name.toLowerCase()
    if (!words.every((word) => name.includes(word) || extra.includes(word))) return
    const rank = name.startsWith(wanted) ? 0 : name.split(/[\s-]+/).some((word) => word.startsWith(wanted)) ? 1 : 2
    ranked[rank]?.push(destination)
  }
  for (const destination of [...SCREENS, ...actionsOf(role), ...SETTINGS])
    place(destination, OTHER_WORDS[destination.name] ?? '')
  for (const { id, name, location, tags } of gateways) {
    const hint = location === '' ? 'Gateway' : location
    place({ path: `/gateways/${id}`, name, hint }, [id, location.toLowerCase(), ...tags].join(' '))
  }
  for (const [tag, count] of countTags(gateways)) {
    const hint = count === 1 ? 'Tag of 1 gateway' : `Tag of ${count.toLocaleString()} gateways`
    place({ path: `/gateways?tag=${encodeURIComponent(tag)}`, name: tag, hint }, '')
  }
  for (const { username, firstName, lastName, email } of users) {
    const name = `${firstName} ${lastName}`.trim() || username
    place(
      { path: `/users?q=${encodeURIComponent(username)}`, name, hint: 'User' },
      `${username} ${email}`.toLowerCase(),
    )
  }
  return ranked.flat().slice(0, SHOWN)
}
